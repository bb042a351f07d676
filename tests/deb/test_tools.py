# SPDX-License-Identifier: GPL-2.0-only
"""The package lull-tools, made for real, and its `lull` on a made-up machine."""

from __future__ import annotations

import gzip
import hashlib
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull import __version__
from lull.ask.catalog import features
from lull.deb.tools import build_tools
from lull.deb.tools_text import compared, default_file, feature_table, fill
from lull.errors import LabError
from lull.host.files import repo_root
from lull.kernels.cli import app
from lull.model import Feature, Mode

ROOT = repo_root()

NAP = Feature(
    name="nap",
    title="napping",
    modes=(
        Mode(name="stock", text="as ever"),
        Mode(name="old", text="as before"),
        Mode(name="lull", text="sooner"),
    ),
    metrics={},
    workloads={},
)
SCENE = NAP.model_copy(update={"name": "scene", "switches": ("nap",)})


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tools(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def unpacked(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("unpacked")
    subprocess.run(["dpkg-deb", "-R", package, place], check=True)
    return place


class Machine:
    """A machine's files below a folder, and the package's `lull` on it."""

    def __init__(self, root: Path, unpacked: Path) -> None:
        self.root = root
        self._program = unpacked / "usr/bin/lull"
        for name in ("etc/default/lull", "usr/share/lull/features"):
            self.put(name, (unpacked / name).read_text())
        self.put("proc/sys/kernel/osrelease", "6.12.9-lull-amd64\n")
        self.boots_with("quiet")

    def put(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def features(self, **modes: str) -> None:
        for name, mode in modes.items():
            self.put(f"sys/module/lull/parameters/{name}", f"{mode}\n")

    def boots_with(self, words: str) -> None:
        self.put("proc/cmdline", f"BOOT_IMAGE=/vmlinuz root=/dev/vda1 {words}\n")

    def settings(self, **values: str) -> None:
        lines = (f"LULL_{name.upper()}={value}\n" for name, value in values.items())
        self.put("etc/default/lull", "".join(lines))

    def mode(self, name: str) -> str:
        path = self.root / "sys/module/lull/parameters" / name
        return path.read_text().strip()

    def lull(self, *words: str, full: bool = False) -> subprocess.CompletedProcess[str]:
        """Run it; where the disk is full no write takes, as one that is refused."""

        def fill_up() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        return subprocess.run(
            ["sh", self._program, "--root", self.root, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=fill_up if full else None,
        )


@pytest.fixture
def machine(tmp_path: Path, unpacked: Path) -> Machine:
    made = Machine(tmp_path, unpacked)
    made.features(freeze="stock", thaw="stock", zfree="stock")
    return made


def test_it_has_what_it_is_to_have(package: Path, unpacked: Path) -> None:
    assert package.name == f"lull-tools_{__version__}_amd64.deb"
    for name in ("usr/bin/lull", "usr/bin/lull-probe"):
        assert (unpacked / name).stat().st_mode & 0o777 == 0o755
    unit = (unpacked / "usr/lib/systemd/system/lull.service").read_text()
    assert "ExecStart=/usr/bin/lull apply" in unit
    assert "ConditionPathIsDirectory=/sys/module/lull/parameters" in unit
    line = (unpacked / "usr/lib/tmpfiles.d/lull.conf").read_text().splitlines()[-1]
    assert line == "d /run/lull 0755 root root -"
    assert (unpacked / "DEBIAN/conffiles").read_text() == "/etc/default/lull\n"
    listed = subprocess.run(
        ["dpkg-deb", "-c", package], capture_output=True, text=True, check=True
    ).stdout
    assert all(" root/root " in line for line in listed.splitlines())


def test_it_needs_no_python_and_no_library(package: Path, unpacked: Path) -> None:
    fields = subprocess.run(
        ["dpkg-deb", "-f", package], capture_output=True, text=True, check=True
    ).stdout
    assert "Depends:" not in fields and f"Version: {__version__}\n" in fields
    probe = subprocess.run(
        [unpacked / "usr/bin/lull-probe", "--list"], capture_output=True, text=True
    )
    assert probe.returncode == 0 and "zombies" in probe.stdout
    kind = subprocess.run(
        ["readelf", "-d", unpacked / "usr/bin/lull-probe"],
        capture_output=True,
        text=True,
    ).stdout
    assert "no dynamic section" in kind
    for path in ("usr/bin/lull", "DEBIAN/postinst", "DEBIAN/postrm"):
        text = (unpacked / path).read_text()
        assert text.startswith("#!/bin/sh\n") and "python" not in text
        assert "@VERSION@" not in text
        subprocess.run(["sh", "-n", unpacked / path], check=True)


def test_sums_and_pages_are_as_debian_wants_them(unpacked: Path) -> None:
    listed = {}
    for line in (unpacked / "DEBIAN/md5sums").read_text().splitlines():
        digest, name = line.split("  ")
        listed[name] = digest
    payload = [
        path.relative_to(unpacked).as_posix()
        for path in unpacked.rglob("*")
        if path.is_file() and "DEBIAN" not in path.parts
    ]
    assert set(listed) == {name for name in payload if name != "etc/default/lull"}
    for name, digest in listed.items():
        assert hashlib.md5((unpacked / name).read_bytes()).hexdigest() == digest
    for name in ("man/man1/lull.1.gz", "man/man1/lull-probe.1.gz"):
        page = gzip.decompress((unpacked / "usr/share" / name).read_bytes())
        assert b".SH NAME" in page
    log = unpacked / "usr/share/doc/lull-tools/changelog.gz"
    assert f"lull-tools ({__version__})".encode() in gzip.decompress(log.read_bytes())


def test_the_same_sources_give_the_same_package(package: Path, tmp_path: Path) -> None:
    assert build_tools(tmp_path).read_bytes() == package.read_bytes()


def test_the_command_makes_it_alone(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["deb", "--tools", "-o", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    assert [path.name for path in (tmp_path / "new").iterdir()] == [
        f"lull-tools_{__version__}_amd64.deb"
    ]


def test_each_setting_has_values_default_and_way_back(unpacked: Path) -> None:
    text = (unpacked / "etc/default/lull").read_text()
    for feature in features():
        name = f"LULL_{feature.name.upper()}"
        assert (f"\n{name}=stock\n" in text) is not bool(feature.switches)
    assert text.count("Default: stock. Way back: stock.") == text.count("=stock\n")
    assert "exit_state" not in text and "wake_all" not in text
    subprocess.run(["sh", "-eu", unpacked / "etc/default/lull"], check=True)


def test_modes_to_compare_with_and_scenarios_are_left_out() -> None:
    left_out = compared(['x\n[OLD] = LULL_COMPARED("old"),\n', ""])
    assert left_out == {"old"}
    assert feature_table([NAP, SCENE], left_out) == (
        "nap||napping\nnap|stock|as ever\nnap|lull|sooner\n"
    )
    text = default_file([NAP, SCENE], left_out)
    assert "# Value: stock, lull. Default: stock. Way back: stock.\n" in text
    assert "LULL_NAP=stock" in text and "SCENE" not in text and "as before" not in text


def test_a_text_that_breaks_the_table_is_an_error() -> None:
    bad = NAP.model_copy(update={"title": "a|b"})
    with pytest.raises(LabError, match=r"a\|b"):
        feature_table([bad], ())
    with pytest.raises(LabError, match="@SIZE@"):
        fill("@SIZE@", VERSION="1")


def test_status_says_modes_counters_and_what_a_switch_would_do(
    machine: Machine,
) -> None:
    machine.put("sys/kernel/debug/lull/freeze/modes", "stock\nlull\n")
    machine.put("sys/kernel/debug/lull/freeze/stats", "visited 12\nwaits 3\n")
    done = machine.lull("status")
    assert done.returncode == 0
    freeze, thaw = done.stdout.split("\n\n")[1:3]
    title, mode, stock, lull, counters = freeze.splitlines()
    assert title == "freeze: freezing processes before a suspend"
    assert mode == "  mode: stock (as every kernel with Lull starts)"
    assert stock.startswith("  * stock  ") and lull.startswith("    lull  ")
    assert counters == "  counters: visited 12, waits 3"
    assert "counters: not to be read here (sudo lull status)" in thaw
    assert "echo MODE > /sys/module/lull/parameters/FEATURE" in done.stdout


def test_status_shows_only_the_modes_that_the_kernel_has(machine: Machine) -> None:
    machine.put("sys/kernel/debug/lull/zfree/modes", "stock\nlull\n")
    done = machine.lull("status", "zfree")
    assert "lull " in done.stdout and "deferred" not in done.stdout
    assert "freeze:" not in done.stdout


def test_a_kernel_without_lull_is_told(machine: Machine) -> None:
    for path in (machine.root / "sys/module/lull/parameters").iterdir():
        path.unlink()
    machine.put("boot/vmlinuz-6.12.9-lull-amd64", "")
    done = machine.lull("status")
    assert done.returncode == 4
    assert "without Lull" in done.stdout and "6.12.9-lull-amd64" in done.stdout


@pytest.mark.parametrize(
    "words", [["status", "nap"], ["status", "../thaw"], ["apply", "x"], ["no"], []]
)
def test_what_does_not_exist_is_usage(machine: Machine, words: list[str]) -> None:
    assert machine.lull(*words).returncode == 2


def test_the_unit_sets_what_the_file_says(machine: Machine) -> None:
    machine.settings(freeze="lull", thaw='"stock"  # as it is', zfree="")
    assert machine.lull("apply").returncode == 0
    assert machine.mode("freeze") == "lull" and machine.mode("zfree") == "stock"
    status = machine.lull("status", "freeze").stdout
    assert "mode: lull (lull.service, from /etc/default/lull)" in status
    # The way back.
    machine.settings(freeze="stock")
    assert machine.lull("apply").returncode == 0
    assert machine.mode("freeze") == "stock"


def test_as_installed_it_switches_nothing(machine: Machine) -> None:
    assert machine.lull("apply").returncode == 0
    assert {machine.mode(name) for name in ("freeze", "thaw", "zfree")} == {"stock"}


def test_a_boot_parameter_wins_over_the_unit(machine: Machine) -> None:
    machine.boots_with('lull.freeze=stock "lull.thaw=lull" -- lull.zfree=stock')
    machine.features(thaw="lull")
    machine.settings(freeze="lull", thaw="stock", zfree="lull")
    done = machine.lull("apply")
    assert done.returncode == 0 and "left to the boot parameter" in done.stdout
    assert machine.mode("freeze") == "stock" and machine.mode("thaw") == "lull"
    # What is behind -- is not the kernel's.
    assert machine.mode("zfree") == "lull"
    status = machine.lull("status").stdout
    assert "mode: lull (the boot parameter lull.thaw=lull)" in status


def test_a_boot_parameter_of_no_mode_wins_too_and_is_told(machine: Machine) -> None:
    machine.boots_with("lull.freeze=lul")
    machine.settings(freeze="lull")
    assert machine.lull("apply").returncode == 0
    assert machine.mode("freeze") == "stock"
    status = machine.lull("status", "freeze").stdout
    assert "lull.freeze=lul, and there is no such mode" in status


def test_who_writes_later_wins_over_both(machine: Machine) -> None:
    machine.boots_with("lull.thaw=lull")
    machine.features(thaw="lull")
    machine.settings(freeze="lull")
    assert machine.lull("apply").returncode == 0
    machine.features(freeze="stock", thaw="stock", zfree="lull")
    status = machine.lull("status").stdout
    assert "mode: stock (written since: lull.service has set lull)" in status
    assert "written since: the boot parameter was lull.thaw=lull" in status
    assert "mode: lull (written by hand)" in status


def test_a_setting_that_is_refused_is_named_and_the_others_are_set(
    machine: Machine,
) -> None:
    machine.settings(freeze="lull")
    done = machine.lull("apply", full=True)
    assert done.returncode == 1
    assert "LULL_FREEZE=lull: refused; it takes: stock lull" in done.stdout
    assert (machine.root / "run/lull/applied").read_text() == ""


def test_a_name_that_is_misspelt_is_not_without_a_word(machine: Machine) -> None:
    machine.settings(freze="lull", freeze="lull")
    done = machine.lull("apply")
    assert done.returncode == 1
    assert "LULL_FREZE: this kernel has no feature 'freze'" in done.stdout
    assert machine.mode("freeze") == "lull"


def test_a_feature_that_the_kernel_lacks_matters_if_it_is_wanted(
    machine: Machine,
) -> None:
    machine.settings(attach="stock")
    assert machine.lull("apply").returncode == 0
    machine.settings(attach="lull")
    assert machine.lull("apply").returncode == 1


def test_an_upgrade_does_not_run_the_unit_again(unpacked: Path) -> None:
    """What was written to sysfs since the boot stays in force."""
    lines = (unpacked / "DEBIAN/postinst").read_text().splitlines()
    starts = [line for line in lines if "systemctl start" in line]
    assert starts == ['\t\t[ -n "$2" ] || systemctl start lull.service || :']
    assert not any("restart" in line for line in lines)
