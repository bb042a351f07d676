# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from lull.cli import app
from lull.doctor.collect import collector_recipe, unpack
from lull.doctor.findings import judge
from lull.doctor.model import Report, schema_text, to_json
from lull.doctor.render import WIDTH, render
from lull.doctor.textfile import textfile
from lull.doctor.there import ssh_command
from lull.errors import CannotRun, ExpectationMissed, UsageError
from lull.host.files import repo_root
from lull.proof.key import imports
from lull.vm.probe_build import probe_recipe
from tests.doctor import texts

SCHEMA = repo_root() / "lull" / "schema" / "doctor.json"


def laptop() -> dict[str, str]:
    tasks = texts.task(50, 'a"b\\x0a\\x1b[31m') + texts.zombies(60, 50)
    tasks += texts.task(51, "x\x1b[31m", wchan="ep_poll")
    return {
        "tasks": tasks,
        "log": texts.LOG,
        "mounts": texts.FUSE,
        "power": texts.POWER + texts.STATS,
        "forks": "1000 ms\t500 forks\n3000 ms\t700 forks\n",
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "laptop"
    place.mkdir()
    (place / "manifest").write_text(texts.MANIFEST)
    for name, text in laptop().items():
        (place / name).write_text(text)
    return place


def report() -> Report:
    return judge(texts.bundle(**laptop()), [("resume", 800.0), ("thaw", 5.0)])


def run(*words: str) -> tuple[int, str, BaseException | None]:
    done = CliRunner().invoke(app, ["doctor", *words])
    return done.exit_code, done.output, done.exception


def test_the_checked_in_schema_is_the_models() -> None:
    assert SCHEMA.read_text() == schema_text(), "python -m lull.doctor.model > it"


def test_a_report_satisfies_the_schema() -> None:
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    item = json.loads(to_json(report()))
    jsonschema.validate(item, schema)
    assert item["schema"] == 1 and item["facts"]["forks_s"] == 100.0
    for broken in ({"schema": 2}, {"findings": [{}]}, {"x": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**item, **broken}, schema)


def test_the_text_fits_a_mail() -> None:
    lines = render(report())
    commands = [line for line in lines if line.startswith("       ")]
    assert all(len(x) <= WIDTH for x in lines if x not in commands)
    text = "\n".join(lines)
    assert "1. tracker-extract (3511) refused to freeze" in text
    assert "budget resume 800 ms: EXCEEDED (842 ms, median of 1)" in text
    assert "budget thaw 5 ms: not known (the log has none)" in text
    assert "does not help: freezing cgroups before a suspend" in text


def test_the_text_file_is_prometheus() -> None:
    text = textfile(report())
    sample = re.compile(r'^lull_doctor_\w+(\{(\w+="(\\.|[^"\\\n])*",?)+\})? [-\d.e+]+$')
    lines = text.splitlines()
    kinds = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(kinds) == len(set(kinds)) >= 8
    assert all(sample.match(x) for x in lines if not x.startswith("#")), text
    assert (
        'lull_doctor_zombies{parent="a\\"b\\n\x1b[31m",pid="50",container=""} 60'
        in lines
    )
    assert 'lull_doctor_part_seconds{part="resume"} 0.842' in lines
    assert 'lull_doctor_budget_kept{part="resume"} 0' in lines


def test_a_folder_is_judged(folder: Path, tmp_path: Path) -> None:
    out, prom = tmp_path / "o.json", tmp_path / "o.prom"
    status, text, _ = run(
        "--from", str(folder), "--json", str(out), "--textfile", str(prom)
    )
    assert status == 0
    assert "1. tracker-extract (3511) refused to freeze" in text
    assert "\x1b" not in text
    assert json.loads(out.read_text())["findings"][0]["grade"] == "fails"
    assert "lull_doctor_suspends_failed 3" in prom.read_text()
    status, text, _ = run("--from", str(folder), "--json", "-")
    assert json.loads(text)["schema"] == 1


def test_a_budget_has_a_status(folder: Path) -> None:
    _, text, error = run("--from", str(folder), "--budget", "resume=800ms")
    assert isinstance(error, ExpectationMissed) and error.exit_code == 1
    assert "resume 842 ms of 800" in str(error) and "refused to freeze" in text
    assert run("--from", str(folder), "--budget", "resume=900ms")[0] == 0
    _, _, error = run("--from", str(folder), "--budget", "thaw=900ms")
    assert isinstance(error, CannotRun)
    # One that is exceeded is the answer, whatever else is not known.
    words = ["--budget", "thaw=900ms", "--budget", "resume=1ms"]
    assert isinstance(run("--from", str(folder), *words)[2], ExpectationMissed)


def test_what_is_no_folder_is_a_usage_error(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none", Path(__file__)):
        assert isinstance(run("--from", str(place))[2], UsageError)
    assert isinstance(run("--from", ".", "--on", "ssh://x")[2], UsageError)


def test_help_fits_a_screen() -> None:
    status, text, _ = run("--help")
    assert status == 0 and len(text.splitlines()) <= 24


def test_ssh_is_the_systems_and_takes_no_options_for_a_host() -> None:
    words = ssh_command("ssh://root@[fe80::1]:2222")
    assert words[:7] == ["ssh", "-T", "-p", "2222", "-l", "root", "--"]
    assert words[7] == "fe80::1"
    for bad in (
        "ssh://-oProxyCommand=x",
        "ssh://-v",
        "ssh://-v@h",
        "ssh://a b",
        "adb:123",
        "host",
        "ssh://a/b",
    ):
        with pytest.raises(UsageError):
            ssh_command(bad)


def test_on_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The transport alone is not real: it runs here what it is given to run there."""
    fake = tmp_path / "bin" / "ssh"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nexec sh -c "$3"\n'
    )
    fake.chmod(0o755)
    there = tmp_path / "there"
    there.mkdir()
    monkeypatch.setenv("TMPDIR", str(there))
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    status, text, error = run("--on", "ssh://elsewhere", "--json", "-")
    assert status == 0, (text, error)
    assert json.loads(text)["facts"]["kernel"] == os.uname().release
    assert not list(there.iterdir())
    fake.write_text("#!/bin/sh\necho 'ssh: connect: refused' >&2\nexit 255\n")
    _, _, error = run("--on", "ssh://elsewhere")
    assert isinstance(error, CannotRun) and "refused" in str(error)


def test_the_collector_is_written_to_be_copied(tmp_path: Path) -> None:
    place = tmp_path / "lull-probe"
    status, text, _ = run("--collector", str(place))
    assert status == 0 and "collect FOLDER" in text
    assert place.stat().st_mode & stat.S_IXUSR and place.stat().st_size < 1 << 20


def test_to_write_the_collector_is_all_that_is_done(tmp_path: Path) -> None:
    place = tmp_path / "lull-probe"
    for words in (("--json", "-"), ("--on", "ssh://a"), ("--budget", "resume=1s")):
        _, _, error = run("--collector", str(place), *words)
        assert isinstance(error, UsageError) and not place.exists()


def test_a_broken_tar_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        unpack(b"x" * 600)
    assert "lull-probe" in refused.value.hint
    link = tmp_path / "l"
    link.symlink_to("/etc/passwd")
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.add(link, "manifest")
    assert unpack((tmp_path / "a.tar").read_bytes()) == {}


def test_no_verdict_depends_on_the_collector_or_the_doctor() -> None:
    root = repo_root()
    probe = probe_recipe(root)
    mine = collector_recipe(root)
    assert len(mine.sources) >= 5
    assert not {*mine.sources, *mine.headers} & {*probe.sources, *probe.headers}
    judged = imports(root, "lull/kernels/build.py", "lull/proof/attempt.py")
    names = {str(path.relative_to(root)) for path in judged}
    assert "lull/errors.py" in names
    assert not [name for name in names if "doctor" in name]


def test_the_readme_is_followed_literally(tmp_path: Path) -> None:
    text = (repo_root() / "README.md").read_text("utf-8")
    block = text.split("## What is slow on your machine?\n\n")[1].split("\n\n")[0]
    lines = [line.partition("#")[0].split() for line in block.splitlines()]
    assert len(lines) == 5
    said = {}
    for words in lines:
        if "--on" in words:
            continue  # test_on_another_machine
        lull = [sys.executable, "-m", "lull"]
        command = [*lull, *words[1:]] if words[0] == ".venv/bin/lull" else words
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(repo_root())},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        said[words[-1]] = done.stdout
    assert said["doctor"].startswith("Linux ") and said["seen"].startswith("Linux ")
