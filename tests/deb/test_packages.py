# SPDX-License-Identifier: GPL-2.0-only
"""``lull kernel deb`` from end to end, with a kernel that takes a second to make."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.deb import build as builder
from lull.deb import flavour as flavours
from lull.deb.build import DIFFERENCES, build, describe
from lull.deb.flavour import Flavour, config_file, fetch_config
from lull.deb.needs import DISK
from lull.deb.plan import output_names
from lull.deb.record import load, packages_dir
from lull.errors import CannotRun, LabError, UsageError
from lull.host.progress import PlainProgress
from lull.host.resources import GB
from lull.kernels import toolchain
from lull.kernels.bases import DEFAULT_BASE, load_base
from lull.kernels.cache import Cache
from lull.kernels.cli import app
from lull.kernels.source import cached
from tests.waiting import until

#: As much of a kernel's Makefile as a build of packages speaks to. CALLS has a
#: line for each thing that was made; GATE, where it is there, makes it wait.
MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 9
obj := $(O)
release := 6.12.9-lull-cloud-amd64
olddefconfig:
	@sort -u -o $(obj)/.config $(obj)/.config
$(obj)/one.o: one.c
	@echo one >>$(CALLS)
	@cp one.c $@
$(obj)/two.o: two.c
	@echo two >>$(CALLS)
	@echo half >$@
	@echo '  CC      two.o'
	@while test -e $(GATE); do sleep 0.1; done
	@cp two.c $@
$(obj)/vmlinux: $(obj)/one.o $(obj)/two.o
	@cat $^ $(obj)/.config >$@
all: $(obj)/vmlinux
bindeb-pkg: all
	@echo packed $$(id -u) $$DPKG_FLAGS >>$(CALLS)
	@for name in linux-image linux-headers; do \\
		cp $(obj)/vmlinux $$name-$(release)_$${KDEB_PKGVERSION}_amd64.deb; done
	@echo no >linux-libc-dev_$${KDEB_PKGVERSION}_amd64.deb
.DELETE_ON_ERROR:
"""

MERGE = """\
#!/bin/sh
shift; shift; obj=$1; shift; shift
cat "$@" | grep CONFIG >>"$obj/.config" || :
"""


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """A cache with sources and Debian's configuration, and no need for much."""
    cache = Cache(tmp_path / "cache" / "lull")
    place = cache.sources / "6.12" / "6.12.9-1"
    (tmp_path / "calls").touch()
    text = MAKEFILE.replace("$(CALLS)", str(tmp_path / "calls"))
    put(place / "tree/Makefile", text.replace("$(GATE)", str(tmp_path / "gate")))
    put(place / "tree/one.c", "int one;\n")
    put(place / "tree/two.c", "int two;\n")
    put(place / "tree/scripts/kconfig/merge_config.sh", MERGE).chmod(0o755)
    names = {"base": "6.12", "package_version": "6.12.9-1", "version": "6.12.9"}
    put(place / "source.json", json.dumps(names))
    put(cache.root / "configs/6.12/6.12.9-1/config.cloud-amd64", "CONFIG_D=y\n")
    monkeypatch.setattr(Cache, "need", lambda *_: None)
    monkeypatch.setattr(toolchain, "need_memory", lambda: None)
    monkeypatch.setattr(toolchain, "need_packaging_tools", lambda: None)
    monkeypatch.setattr(builder, "need_amd64", lambda machine: None)
    return cache


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    text = 'name="6.12"\npackage="linux-source-6.12"\nconfig="linux-config-6.12"\n'
    put(root / "kernel/bases/6.12.toml", f'{text}tarball="t"\ntop="t"\n')
    put(root / "kernel/config/base.config", "CONFIG_B=y\n")
    put(root / "kernel/config/lull.config", "CONFIG_LULL=y\n")
    put(root / "kernel/config/deb.config", "CONFIG_ZRAM=m\n")
    put(root / "kernel/overlay/kernel/lull/Kconfig", "menu\n")
    hook = "--- a/two.c\n+++ b/two.c\n@@ -1 +1,2 @@\n int two;\n+int lull;\n"
    put(root / "kernel/hooks/6.12/0001-x.patch", hook)
    return root


def made(cache: Cache, root: Path) -> builder.Packages:
    with PlainProgress(sys.stderr) as progress:
        return build("6.12", Flavour.CLOUD, progress, jobs=1, cache=cache, root=root)


def calls(tmp_path: Path) -> list[str]:
    return (tmp_path / "calls").read_text().split("\n")[:-1]


def test_image_and_headers_are_kept_and_libc_dev_is_not(
    cache: Cache, root: Path, tmp_path: Path
) -> None:
    found = made(cache, root)
    names = output_names("6.12.9-lull-cloud-amd64", found.version)
    assert tuple(found.files) == names
    image = (found.directory / names[0]).read_text()
    assert "int lull;" in image and "CONFIG_ZRAM=m" in image
    assert 'CONFIG_LOCALVERSION="-lull-cloud-amd64"' in image
    assert "CONFIG_D=y" in image and "CONFIG_B" not in image
    assert not list(found.directory.glob("linux-libc-dev*"))
    assert "CONFIG_LULL=y" in (found.directory / DIFFERENCES).read_text()


def test_they_are_packed_as_root_by_fakeroot(
    cache: Cache, root: Path, tmp_path: Path
) -> None:
    made(cache, root)
    # And whatever the kernel's own list of packages has besides.
    assert calls(tmp_path)[-1] == "packed 0 -d"
    text = "\n".join(describe("6.12", Flavour.CLOUD, cache=cache, root=root))
    assert "fakeroot -- make" in text.split("bindeb-pkg")[-2]


def test_what_is_made_is_not_made_again(
    cache: Cache, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = made(cache, root)
    assert "8 GB" in capsys.readouterr().err
    before = calls(tmp_path)
    assert made(cache, root) == first and calls(tmp_path) == before
    # What it takes is said of a build, and there is none.
    assert "8 GB" not in capsys.readouterr().err


def test_what_a_build_took_is_said_before_the_next(
    cache: Cache, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(cache, root)
    put(root / "kernel/config/deb.config", "CONFIG_ZRAM=m\nCONFIG_NEW=y\n")
    capsys.readouterr()
    made(cache, root)
    assert "the last time here (1 jobs" in capsys.readouterr().err


def test_a_package_that_was_damaged_is_made_again(cache: Cache, root: Path) -> None:
    found = made(cache, root)
    name = next(iter(found.files))
    (found.directory / name).write_text("half")
    assert load(found.directory) is None
    assert (made(cache, root).directory / name).read_text() != "half"


def test_a_package_that_make_leaves_out_is_an_error(cache: Cache, root: Path) -> None:
    makefile = cache.sources / "6.12/6.12.9-1/tree/Makefile"
    put(makefile, makefile.read_text().replace("linux-image linux-h", "linux-h"))
    with pytest.raises(LabError, match=r"has not made linux-image-6.12.9-lull"):
        made(cache, root)
    assert not list((cache.root / "packages").glob("*"))


def stopped(cache: Cache, root: Path, tmp_path: Path, number: int) -> int:
    """Run a build in a process of its own, and send it a signal while two.o is
    half made; returns its status."""
    (tmp_path / "gate").touch()
    program = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from lull.deb import build as builder, cli
from lull.kernels import toolchain
from lull.kernels.cache import Cache
from lull import errors
Cache.need = lambda *_: None
toolchain.need_memory = toolchain.need_packaging_tools = lambda: None
builder.need_amd64 = lambda machine: None
from lull.host.progress import PlainProgress
try:
    with cli._stoppable(), PlainProgress(sys.stderr) as progress:
        builder.build("6.12", cli.Flavour.CLOUD, progress, jobs=1,
                      cache=Cache(Path({str(cache.root)!r})),
                      root=Path({str(root)!r}))
except errors.LullError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""
    errors = tmp_path / "errors"
    with errors.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stderr=file,
            # A background job of a shell starts with SIGINT ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        # The lab's own log: what make has done it may not have heard of yet.
        log = cache.logs / "6.12-deb-cloud-amd64.log"
        try:
            until(
                "two.o is half made",
                lambda: log.is_file() and "CC      two.o" in log.read_text(),
                300,
            )
            process.send_signal(number)
            return process.wait(300)
        finally:
            (tmp_path / "gate").unlink()
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_build_that_was_stopped_goes_on_where_it_was(
    cache: Cache, root: Path, tmp_path: Path, number: int
) -> None:
    assert stopped(cache, root, tmp_path, number) == 125
    said = (tmp_path / "errors").read_text()
    assert "interrupted; what is compiled is kept" in said and "try: the same" in said
    assert not list((cache.root / "packages").glob("*"))
    found = made(cache, root)
    image = (found.directory / next(iter(found.files))).read_text()
    assert "half" not in image and "int lull;" in image
    assert calls(tmp_path).count("one") == 1 and calls(tmp_path).count("two") == 2


def test_of_a_build_that_was_killed_nothing_is_believed(
    cache: Cache, root: Path, tmp_path: Path
) -> None:
    assert stopped(cache, root, tmp_path, signal.SIGKILL) == -signal.SIGKILL
    found = made(cache, root)
    image = (found.directory / next(iter(found.files))).read_text()
    assert "half" not in image and calls(tmp_path).count("one") == 2


def test_a_dry_run_says_commands_and_does_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    lines = describe("6.12", Flavour.AMD64, cache=cache)
    text = "\n".join(lines)
    assert "download linux-source-6.12\n" in text
    assert "download linux-config-6.12=" in text
    assert "config.amd64_none_amd64.xz" in text
    assert text.index("lull.config") < text.index("deb.config")
    assert "nice -n 19 make" in text and "compare.config" not in text
    assert lines[-1].startswith("# package: linux-headers-VERSION-lull-amd64_")
    assert not cache.root.exists()


def test_the_command_refuses_what_does_not_exist(tmp_path: Path) -> None:
    runner = CliRunner()
    result = runner.invoke(app, ["deb", "--flavour", "rt-amd64", "--dry-run"])
    assert result.exit_code == 2 and "cloud-amd64" in result.output
    result = runner.invoke(app, ["deb", "--base", "5.4", "--dry-run"])
    assert isinstance(result.exception, UsageError)
    file = put(tmp_path / "file", "")
    result = runner.invoke(app, ["deb", "-o", str(file / "below")])
    assert isinstance(result.exception, UsageError)
    assert "-o DIR" in str(result.exception)


def test_a_package_that_the_archive_lacks_is_named(
    cache: Cache, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = load_base("6.12", root)
    source = cached(base, cache)
    assert source is not None
    cache.prepare()
    config_file(base, source, Flavour.CLOUD, cache).unlink()
    monkeypatch.setattr(flavours, "need_fetch_tools", lambda: None)

    def says(text: str) -> None:
        done = subprocess.CompletedProcess([], 100, stdout=text)
        monkeypatch.setattr(flavours, "run", lambda *_: done)

    says("E: Version '6.12.9-1' for 'linux-config-6.12' was not found")
    with pytest.raises(CannotRun, match="gone from the archive") as error:
        fetch_config(base, source, Flavour.CLOUD, cache)
    assert error.value.hint == "sudo apt-get update; lull kernel deb --refresh"
    of_suite = base.model_copy(update={"name": "7.3", "suite": "trixie-backports"})
    with pytest.raises(CannotRun, match="gone from the archive") as error:
        raise flavours._not_downloaded(of_suite, source, "E: x was not found")
    assert error.value.hint == "lull kernel deb --refresh --base 7.3"
    says("E: Unable to locate package linux-config-6.12")
    with pytest.raises(CannotRun, match=r"linux-config-6.12 is not known to apt"):
        fetch_config(base, source, Flavour.CLOUD, cache)
    assert error.value.exit_code == 4


def test_too_little_disk_is_said_before_the_start(
    cache: Cache, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Cache, size: int, step: str) -> None:
        raise CannotRun(f"{step} needs {size // GB} GB of disk")

    monkeypatch.setattr(Cache, "need", refuse)
    with pytest.raises(CannotRun, match=f"needs {DISK[Flavour.CLOUD] // GB} GB"):
        made(cache, root)
    assert calls(tmp_path) == []


def test_another_machine_and_missing_programs_are_refused() -> None:
    with pytest.raises(CannotRun, match="this machine is aarch64"):
        builder.need_amd64("aarch64")
    lacking = {"dh", "fakeroot"}
    with pytest.raises(CannotRun, match="missing: dh, fakeroot") as error:
        toolchain.need_packaging_tools(
            lambda name: None if name in lacking else name, lambda name: True
        )
    assert "debhelper fakeroot" in error.value.hint


def test_depmod_is_found_without_an_administrators_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the kernel's own script finds it; mkfs is on every machine."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert toolchain.which_sbin("mkfs") and not toolchain.which_sbin("no-such-program")


# Late: beside the guest's test, which has them built, it would keep a worker waiting.
@pytest.mark.vm
@pytest.mark.packages
@pytest.mark.default_base
@pytest.mark.seconds(10)
def test_cloud_amd64_is_built() -> None:
    is_built(DEFAULT_BASE)


# First: nobody else has them built, and a compilation is the longest of all.
@pytest.mark.vm
@pytest.mark.packages
@pytest.mark.seconds(7200)
def test_cloud_amd64_of_another_base_is_built(base: str) -> None:
    if base == DEFAULT_BASE:
        pytest.skip("a test of its own has that built")
    is_built(base)


def is_built(base: str) -> None:
    """Debian's own configuration, and each package what it says it is."""
    with PlainProgress(sys.stderr) as progress:
        found = build(base, Flavour.CLOUD, progress)
    assert load(found.directory) == found
    assert (
        found.directory.name
        == packages_dir(Cache(), f"{base}-deb-cloud-amd64", found.key).name
    )
    image, headers = (found.directory / name for name in found.files)
    listed = subprocess.run(
        ["dpkg-deb", "-c", image], capture_output=True, text=True, check=True
    ).stdout
    for path in ("boot/vmlinuz-", "boot/config-", "boot/System.map-"):
        assert f"./{path}{found.release}\n" in listed
    for part in ("zram/zram.ko", f"{found.release}/modules.dep\n"):
        assert part in listed
    # zswap is none, and has it with it (kernel/config/deb.config).
    assert "zsmalloc.ko" not in listed
    fields = subprocess.run(
        ["dpkg-deb", "-f", image], capture_output=True, text=True, check=True
    ).stdout
    assert f"Package: linux-image-{found.release}\n" in fields
    assert f"Version: {found.version}\n" in fields
    assert headers.stat().st_size > 1_000_000
