"""What a template is made of: without compiling anything."""

import json
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml
from stand_ins import run

from warpgrade import platforms
from warpgrade.handout import essentials, template
from warpgrade.handout.template import Platform
from warpgrade.machine.paths import Layout, find_layout

ROOT = find_layout().root
PLATFORMS = {platform.name: platform for platform in template.list_platforms()}
JUDGE = b"\x7fELF judge"


@pytest.fixture(autouse=True)
def no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(layout: object, lab: object, folder: Path, say: object, *, public_only: bool) -> None:
        folder.mkdir(parents=True)
        (folder / "judge").write_bytes(JUDGE + (b" public" if public_only else b" all"))

    monkeypatch.setattr(essentials, "write", write)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "warpgrade-0.1.0-py3-none-any.whl"
    path.write_bytes(b"wheel")
    return path


def contents(out: Path) -> dict[str, bytes]:
    """Return each file, those in archives as well."""
    found: dict[str, bytes] = {}
    for path in (path for path in out.rglob("*") if path.is_file()):
        name = path.relative_to(out).as_posix()
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as packed:
                found |= {f"{name}/{each}": packed.read(each) for each in packed.namelist()}
        elif path.suffix == ".tar":
            with tarfile.open(path) as tar:
                found |= {f"{name}/{each.name}": (tar.extractfile(each) or path.open("rb")).read() for each in tar}
        else:
            found[name] = path.read_bytes()
    return found


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_template_is_whole(
    name: str, in_project: Layout, wheel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    about = PLATFORMS[name].about
    status, out, err = run(capsys, "platform", name, "toy", "--wheel", wheel, "--out", tmp_path / "out")
    assert status == 0, err
    assert out.startswith(f"{about.title}: ")
    files = contents(tmp_path / "out")
    words = ("lab", "title", "file", "files", "files_json", "handin", "points", "uuid", "course", "install")
    for file, content in files.items():
        assert not any(f"@{word}@" in file or f"@{word}@".encode() in content for word in words), file
        if file.endswith(".json"):
            json.loads(content)
        if content.startswith((b"#!/usr/bin/env bash", b"#!/bin/bash")):
            told = subprocess.run(["bash", "-n"], input=content, capture_output=True, check=False).stderr
            assert told == b"", file
        if file.endswith((".py", "run_autograder.py")):
            compile(content, file, "exec")
    assert "@" not in out
    judges = [content for file, content in files.items() if file.endswith("labs/toy/judge")]
    assert judges == ([JUDGE + b" " + about.tests.encode()] if about.tests != "none" else [])
    assert any(file.endswith(f"wheels/{wheel.name}") for file in files) == bool(about.install)


# Stands in for Python: makes an environment whose `warpgrade` notes what it is asked and ends with $TRIAL.
PYTHON = """#!/bin/bash
[ "$2" = venv ] || exit 0
mkdir -p "$3/bin"
printf '#!/bin/bash\\n' | tee "$3/bin/python" >"$3/bin/warpgrade"
printf 'echo "$@" >>"$ASKED"; exit $TRIAL\\n' >>"$3/bin/warpgrade"
chmod +x "$3/bin/"*
"""


@pytest.mark.parametrize("name", [name for name, platform in PLATFORMS.items() if platform.about.install])
def test_set_up_ends_with_a_trial_and_fails_with_it(
    name: str, in_project: Layout, wheel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, programs, asked = tmp_path / "out", tmp_path / "programs", tmp_path / "asked"
    run(capsys, "platform", name, "toy", "--wheel", wheel, "--out", out)
    for archive in (path for path in out.iterdir() if path.suffix in {".zip", ".tar"}):
        shutil.unpack_archive(archive, out)
    (script,) = out.rglob("install.sh")
    programs.mkdir()
    for program in ("python3", "g++", "bwrap", "nvcc"):
        (programs / program).write_text(PYTHON if program == "python3" else "")
        (programs / program).chmod(0o755)

    def set_up(trial: int) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", str(script), str(tmp_path / "target")], capture_output=True, text=True, check=False,
            env={"PATH": f"{programs}:/usr/bin:/bin", "TRIAL": str(trial), "ASKED": str(asked)},
        )  # fmt: skip
        return done.returncode, done.stderr

    for _ in range(2):  # what failed once is not taken for done
        status, said = set_up(2)
        assert status == 3
        assert "no submission can be graded here" in said
    assert [set_up(0)[0], set_up(2)[0]] == [0, 0]
    lab_is_there = (script.parent / "labs" / "toy").is_dir()
    trial = "grade toy labs/toy/.warpgrade/starter --quiet" if lab_is_there else "doctor"
    assert asked.read_text().splitlines() == [trial] * 3
    assert lab_is_there == (name not in {"prairielearn", "submitty"})


def test_what_students_could_read_holds_public_tests_only() -> None:
    public = {name for name, platform in PLATFORMS.items() if platform.about.tests == "public"}
    assert public == {"github", "gitlab", "classroom50"}


def test_the_zip_of_gradescope_has_its_programs_at_its_root(
    in_project: Layout, wheel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "platform", "gradescope", "toy", "--wheel", wheel, "--out", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["gradescope-toy.zip"]
    with zipfile.ZipFile(tmp_path / "out" / "gradescope-toy.zip") as packed:
        for name in ("setup.sh", "run_autograder"):
            assert packed.getinfo(name).external_attr >> 16 & 0o111


def test_the_workflow_of_github_keeps_pips_downloads_and_uploads_what_grade_sh_writes(
    in_project: Layout, wheel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "platform", "github", "toy", "--wheel", wheel, "--out", tmp_path / "out")
    workflow = yaml.safe_load((tmp_path / "out" / ".github" / "workflows" / "warpgrade.yml").read_text())
    by_action = {step.get("uses", "").partition("@")[0]: step for step in workflow["jobs"]["check"]["steps"]}
    cache, upload = by_action["actions/cache"], by_action["github/codeql-action/upload-sarif"]
    (wheels,) = re.findall(r"hashFiles\('(.*)'\)", cache["with"]["key"])
    assert list((tmp_path / "out").glob(wheels)) == [tmp_path / "out" / "warpgrade" / "wheels" / wheel.name]
    assert cache["with"]["path"] == "~/.cache/pip"
    assert upload["continue-on-error"] is True
    assert upload["if"] == "${{ !cancelled() }}"  # also where the work has not all points
    assert workflow["permissions"]["security-events"] == "write"
    (given,) = re.findall(r'grade\.sh "(.*)"', str(workflow["jobs"]))
    script = (tmp_path / "out" / "warpgrade" / "grade.sh").read_text()
    (written,) = re.findall(r'--sarif "\$1(.*)"', script)
    assert f"{given}{written}".replace("$RUNNER_TEMP", "${{ runner.temp }}") == upload["with"]["sarif_file"]


def test_wrong_usage(in_project: Layout, wheel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    usages: list[tuple[list[str | Path], str]] = [
        (["canvas", "toy", "--out", out], "“canvas” is no platform"),
        (["gradescope"], "LAB and --out are needed"),
        (["gradescope", "toy", "--out", out], "no wheel of Warpgrade"),
        (["gradescope", "toy", "--out", out, "--wheel", tmp_path / "gone.whl"], "there is no such file"),
    ]
    for words, complaint in usages:
        status, _, err = run(capsys, "platform", *words)
        assert status == 2
        assert complaint in err
    for expected in (0, 2):
        status, _, err = run(capsys, "platform", "vpl", "toy", "--wheel", wheel, "--out", out)
        assert status == expected
    assert "is there already" in err


def test_the_platforms_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    shown = run(capsys, "platform")[1]
    assert [row.split()[0] for row in shown.splitlines()] == sorted(PLATFORMS)


@pytest.mark.parametrize("name", PLATFORMS)
def test_each_platform_has_its_lines_in_the_docs(name: str) -> None:
    page = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    assert f"## {PLATFORMS[name].about.title}\n" in page
    assert f"warpgrade platform {name} " in page


def test_platforms_are_found_by_their_folders() -> None:
    folders = {path.parent.name for path in Path(platforms.__file__).parent.glob("*/platform.toml")}
    assert set(PLATFORMS) == folders
    assert all(isinstance(each, Platform) for each in PLATFORMS.values())
