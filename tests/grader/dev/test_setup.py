"""What the launcher installs is pinned: exact versions, a hash for each file, and no index address anywhere."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from warpgrade import __version__
from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
LOCKS = [
    "requirements.lock",
    "requirements-dev.lock",
    "requirements-package.lock",
    "requirements-notebook.lock",
    "requirements-cluster.lock",
    "cuda.lock",
]


def locked(name: str) -> dict[str, tuple[str, int]]:
    """Return {package: (version, number of hashes)}."""
    text = (ROOT / name).read_text(encoding="utf-8")
    logical = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\\\n", " ")
    packages = {}
    for line in filter(str.strip, logical.splitlines()):
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)==([0-9][\w.]*)((?:\s+--hash=sha256:[0-9a-f]{64})+)\s*", line)
        assert match is not None, f"{name}: not a pinned and hashed package: {line}"
        packages[match[1].lower()] = (match[2], match[3].count("--hash"))
    return packages


@pytest.mark.parametrize("name", LOCKS)
def test_locks_pin_and_hash_every_package(name: str) -> None:
    assert locked(name)
    assert "://" not in (ROOT / name).read_text(encoding="utf-8")
    assert "index" not in re.sub(r"#.*", "", (ROOT / name).read_text(encoding="utf-8"))


def test_locks_agree_with_each_other_and_hold_what_the_project_names() -> None:
    run, dev = locked("requirements.lock"), locked("requirements-dev.lock")
    versions: dict[str, str] = {}
    for name in LOCKS:  # they are installed into one environment, one after the other
        for package, (version, _) in locked(name).items():
            assert versions.setdefault(package, version) == version, name
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {name.lower() for name in project["dependencies"]} <= run.keys()
    assert {name.lower() for name in project["optional-dependencies"]["dev"]} <= dev.keys()


def test_the_package_names_the_tools_and_compilers_that_are_locked() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras["cluster"]) <= locked("requirements-cluster.lock").keys()
    assert set(extras["package"]) <= locked("requirements-package.lock").keys()
    compilers = {name: f"=={version}" for name, (version, _) in locked("cuda.lock").items()}
    assert sorted(extras["cuda"]) == sorted(name + version for name, version in compilers.items())


def test_the_compilers_wheels_are_of_one_release() -> None:
    assert {version.rsplit(".", 1)[0] for version, _ in locked("cuda.lock").values()} == {"13.0"}


def test_tests_and_commands_share_one_build_folder_and_its_objects() -> None:
    presets = {
        one["name"]: one for one in json.loads((ROOT / "CMakePresets.json").read_text("utf-8"))["configurePresets"]
    }
    assert presets["dev"]["inherits"] == "release"
    assert presets["dev"]["binaryDir"] == presets["base"]["binaryDir"].replace("${presetName}", "release")
    assert presets["dev"]["cacheVariables"].keys() <= {"WARPGRADE_TESTS", "WARPGRADE_BENCHMARKS"}  # no other flags


def test_a_comment_that_changes_makes_a_precompiled_header_anew(tmp_path: Path) -> None:
    """A machine's second checkout met what ccache had kept of the first one's, and nothing compiled."""
    function = re.search(r"^use_ccache\(\) \{.*?^\}\n", (ROOT / "warpgrade").read_text(encoding="utf-8"), re.M | re.S)
    assert function is not None
    (tmp_path / "all.hxx").write_text(f'#include "{tmp_path}/part.hpp"\n', encoding="utf-8")
    (tmp_path / "empty.cpp").write_text("", encoding="utf-8")
    compiler = f"{function[0]}root=$PWD; use_ccache .; $CMAKE_CXX_COMPILER_LAUNCHER g++ -MD -MF all.d"
    header = "-x c++-header -include all.hxx -o all.hxx.gch -c empty.cpp"
    for comment in ("a comment", "another"):
        (tmp_path / "all.hxx.gch").unlink(missing_ok=True)
        part = f"// {comment}\n#pragma once\ninline int part() {{ return 0; }}\n"
        (tmp_path / "part.hpp").write_text(part, encoding="utf-8")
        main = f'#include "part.hpp"\nint main() {{ return part(); }}  // {comment}\n'
        (tmp_path / "main.cpp").write_text(main, encoding="utf-8")
        for arguments in (header, "-include all.hxx -c main.cpp"):
            done = subprocess.run(
                ["bash", "-c", f"{compiler} {arguments}"], cwd=tmp_path, capture_output=True, text=True, check=False,
                env={**os.environ, "CCACHE_DIR": str(tmp_path / "kept")},
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
    assert shutil.which("ccache"), "./warpgrade test installs it"


def test_what_another_checkout_built_is_left_alone(tmp_path: Path) -> None:
    other, copy = tmp_path / "other", tmp_path / "copy"
    (other / "release").mkdir(parents=True)
    copy.mkdir()
    shutil.copy(ROOT / "warpgrade", copy)
    (copy / "build").symlink_to(other)
    done = subprocess.run([copy / "warpgrade", "grade"], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert f"build is a link to {other}" in done.stderr
    assert (other / "release").is_dir()


@pytest.mark.parametrize("script", ["warpgrade", ".ci/run"])
def test_shell_scripts_parse(script: str) -> None:
    subprocess.run(["bash", "-n", str(ROOT / script)], check=True)


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["scikit-build"]["metadata"]["version"]["input"] == "grader/warpgrade/__init__.py"
    assert (
        "VERSION" not in re.findall(r"^project\((.*)\)", (ROOT / "CMakeLists.txt").read_text("utf-8"), re.MULTILINE)[0]
    )
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", changelog, re.MULTILINE)
    assert __version__ in (released[:1] or re.findall(r"becomes (\d+\.\d+\.\d+)", changelog))


@pytest.mark.parametrize("name", [".github/workflows/ci.yml", ".gitlab-ci.yml"])
def test_workflows_call_the_same_script(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert ".ci/run" in text
    assert "./warpgrade" not in text


def test_hooks_before_a_commit_call_tools_that_are_there() -> None:
    entries = re.findall(r"^ +entry: (.+)$", (ROOT / ".pre-commit-config.yaml").read_text("utf-8"), re.MULTILINE)
    modules = [entry.split()[2] for entry in entries if entry.startswith(".venv/bin/python -m ")]
    assert set(modules) <= locked("requirements-dev.lock").keys()
    assert {entry.split()[0] for entry in entries} == {"clang-format", ".venv/bin/python", "./warpgrade"}
