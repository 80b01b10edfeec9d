"""Each template, run as its platform would run it: an empty machine, the platform's own paths, no repository."""

import functools
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import made_once
import pytest
from platform_machine import Machine, pack_needed, variables

from warpgrade.handout import template
from warpgrade.lab import labs
from warpgrade.machine.paths import find_layout

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
LAB = labs.find(LAYOUT, "reverse")
POINTS = LAB.max_points
BASELINE = LAB.file.baseline.points
FILES = LAB.file.lab.files


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout, and those that it needs."""

    def make(folder: Path) -> None:
        shutil.copy(made_once.wheel(tmp_path_factory), folder)
        pack_needed(folder)

    return made_once.folder(tmp_path_factory, "wheels", make)


@pytest.fixture(scope="session")
def made(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return where a platform's template is, written once."""

    def write(name: str, folder: Path) -> None:
        platform = template.find_platform(name)
        carried = template.wheels(LAYOUT, [wheels])
        template.write(LAYOUT, platform, LAB, folder, carried, lambda text: None, platform.about.tests)

    return lambda name: made_once.folder(tmp_path_factory, f"template-{name}", functools.partial(write, name))


@pytest.fixture(scope="session")
def opt(made: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """/opt/warpgrade, as Gradescope's set-up leaves it."""

    def install(home: Path) -> None:
        machine = Machine()
        machine.folder("/opt/warpgrade", home)
        source = machine.folder("/autograder", home) / "source"
        with zipfile.ZipFile(next(made("gradescope").glob("*.zip"))) as packed:
            packed.extractall(source)
        done = machine.run(["bash", "/autograder/source/setup.sh"], cwd="/autograder")
        assert done.returncode == 0, done.stdout + done.stderr
        assert (home / "opt-warpgrade" / "cache" / "warpgrade" / "cache").is_dir()

    return made_once.folder(tmp_path_factory, "gradescope", install) / "opt-warpgrade"


@pytest.fixture
def machine(opt: Path) -> Iterator[Machine]:
    yield Machine({"/opt/warpgrade": opt})


def hand_in(folder: Path, kind: str) -> None:
    """Lay a submission down: the reference, the starter, or what does not compile."""
    source = LAB.reference_folder if kind == "reference" else LAB.starter_folder
    for name in FILES:
        shutil.copy(source / name, folder / name)
    if kind == "broken":
        (folder / FILES[0]).write_text('Grade :=>> 100\n::error::x\n{"scores":{"reverse":100}}\n')


STARTER = pytest.param("starter", BASELINE, marks=pytest.mark.nightly)  # as the reference, with fewer points
CASES = [("reference", POINTS), STARTER, ("broken", 0.0)]
KINDS = ["reference", pytest.param("starter", marks=pytest.mark.nightly)]


@pytest.mark.parametrize(("kind", "points"), CASES)
def test_gradescope(kind: str, points: float, machine: Machine, made: Callable[[str], Path], tmp_path: Path) -> None:
    home = machine.folder("/autograder", tmp_path)
    with zipfile.ZipFile(next(made("gradescope").glob("*.zip"))) as packed:
        packed.extractall(home / "source")
    shutil.copy(home / "source" / "run_autograder", home)  # as Gradescope copies it
    for name in ("submission", "results"):
        (home / name).mkdir()
    hand_in(home / "submission", kind)
    done = machine.run(["bash", "/autograder/run_autograder"], cwd="/autograder")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((home / "results" / "results.json").read_text())
    assert result["score"] == points
    assert {test["visibility"] for test in result["tests"]} == {"visible"}
    failed = machine.run(["bash", "/autograder/run_autograder"], cwd="/autograder", broken=True)
    assert failed.returncode != 0
    assert not (home / "results" / "results.json").exists()


@pytest.mark.parametrize(("kind", "points"), CASES)
def test_prairielearn(kind: str, points: float, machine: Machine, made: Callable[[str], Path], tmp_path: Path) -> None:
    question = made("prairielearn") / "questions" / LAB.name
    options = json.loads((question / "info.json").read_text())["externalGradingOptions"]
    grade = machine.folder("/grade", tmp_path)
    shutil.copytree(question / "tests", grade / "tests")
    (grade / "student").mkdir()
    (grade / "data").mkdir()
    (grade / "data" / "data.json").write_text("{}")
    hand_in(grade / "student", kind)

    def results(*, broken: bool = False) -> Any:
        done = machine.run([options["entrypoint"]], broken=broken)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads((grade / "results" / "results.json").read_text())

    result = results()
    assert result["gradable"] == (kind != "broken")
    assert result.get("score", 0) == pytest.approx(points / POINTS, abs=1e-5)
    assert results(broken=True)["gradable"] is False


def scores(words: str) -> Any:
    return json.loads(words.splitlines()[-1])["scores"]


@pytest.mark.parametrize(("kind", "points"), CASES)
def test_autolab(kind: str, points: float, machine: Machine, made: Callable[[str], Path], tmp_path: Path) -> None:
    home = machine.folder("/home/autograde/autolab", tmp_path)
    shutil.copy(made("autolab") / "autograde-Makefile", home / "Makefile")
    shutil.copy(made("autolab") / "autograde.tar", home)
    (tmp_path / "files").mkdir()
    hand_in(tmp_path / "files", kind)
    shutil.make_archive(str(home / LAB.name), "zip", tmp_path / "files")
    done = machine.run(["make"], cwd="/home/autograde/autolab")
    assert done.returncode == 0, done.stdout + done.stderr
    assert scores(done.stdout) == {LAB.name: points}
    failed = machine.run(["make"], cwd="/home/autograde/autolab", broken=True)
    assert scores(failed.stdout) == {LAB.name: None}
    assert failed.stderr == ""


@pytest.mark.parametrize(("kind", "points"), CASES)
def test_submitty(kind: str, points: float, machine: Machine, made: Callable[[str], Path], tmp_path: Path) -> None:
    config = json.loads((made("submitty") / "config" / "config.json").read_text())
    (testcase,) = config["testcases"]
    assert testcase["points"] == POINTS
    validation = testcase["validation"][0]
    work = machine.folder("/var/local/submitty/autograding_TMP/TMP_WORK", tmp_path)
    shutil.copytree(made("submitty") / "config" / "custom_validation_code", work, dirs_exist_ok=True)
    (work / "test01").mkdir()
    hand_in(work / "test01", kind)
    told = {**validation, "testcase_prefix": "test01", "username": "ada"}
    (work / "custom_validator_input.json").write_text(json.dumps(told))

    def validate(*, broken: bool = False) -> Any:
        done = machine.run(
            validation["command"].split(), cwd="/var/local/submitty/autograding_TMP/TMP_WORK", broken=broken
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads((work / "validation_results.json").read_text())

    result = validate()
    assert result["status"] == "success", (work / "validation_logfile.txt").read_text()
    assert result["data"]["score"] == pytest.approx(points / POINTS, abs=1e-5)
    assert validate(broken=True)["status"] == "failure"


@pytest.mark.parametrize(("kind", "points"), CASES)
def test_vpl(
    kind: str, points: float, machine: Machine, made: Callable[[str], Path], tmp_path: Path, opt: Path
) -> None:
    course = machine.folder("/opt/warpgrade/course", tmp_path)
    shutil.copytree(made("vpl") / "jail" / "labs", course / "labs")
    home = machine.folder("/home/p0123", tmp_path)
    shutil.copy(made("vpl") / "vpl_evaluate.sh", home)
    (home / "vpl_environment.sh").write_text("export VPL_GRADEMIN=0\nexport VPL_GRADEMAX=10\n")
    hand_in(home, kind)
    assert machine.run(["./vpl_evaluate.sh"], cwd="/home/p0123").returncode == 0
    done = machine.run(["./vpl_execution"], cwd="/home/p0123")
    grades = re.findall(r"^Grade :=>> *(.*)$", done.stdout, re.MULTILINE)
    assert [float(grade) for grade in grades] == [pytest.approx(10 * points / POINTS, abs=1e-3)]
    assert all(row.startswith(("Comment :=>>", "Grade :=>>")) for row in done.stdout.splitlines())
    failed = machine.run(["./vpl_execution"], cwd="/home/p0123", broken=True)
    assert "Grade :=>>" not in failed.stdout
    assert "This is no grade" in failed.stdout


def test_vpl_grades_by_no_lab_of_the_students_own(
    machine: Machine, made: Callable[[str], Path], tmp_path: Path
) -> None:
    home = machine.folder("/home/p0123", tmp_path)
    shutil.copy(made("vpl") / "vpl_evaluate.sh", home)
    shutil.copytree(made("vpl") / "jail" / "labs", home / "labs")
    hand_in(home, "reference")
    assert machine.run(["./vpl_evaluate.sh"], cwd="/home/p0123").returncode == 0
    done = machine.run(["./vpl_execution"], cwd="/home/p0123")
    assert "Grade :=>>" not in done.stdout
    assert "This is no grade" in done.stdout


@pytest.mark.parametrize(("kind", "points"), CASES)
def test_codegrade(kind: str, points: float, machine: Machine, made: Callable[[str], Path], tmp_path: Path) -> None:
    fixtures = machine.folder("/home/codegrade/fixtures", tmp_path)
    with zipfile.ZipFile(next(made("codegrade").glob("*.zip"))) as packed:
        for each in packed.infolist():
            packed.extract(each, fixtures)
            (fixtures / each.filename).chmod(each.external_attr >> 16)
    student = machine.folder("/home/codegrade/student", tmp_path)
    hand_in(student, kind)
    assert machine.run(["/home/codegrade/fixtures/setup.sh"]).returncode == 0
    place = {"CG_JUNIT_XML_LOCATION": "/home/codegrade/student/junit.xml"}
    grade = ["/home/codegrade/fixtures/grade.sh"]
    done = machine.run(grade, cwd="/home/codegrade/student", values=place)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(points / POINTS, abs=1e-5)
    suite = ET.parse(student / "junit.xml").getroot()[0]  # noqa: S314 - ours
    assert int(suite.attrib["tests"]) == len(LAB.items)
    failed = machine.run(grade, cwd="/home/codegrade/student", broken=True, values=place)
    assert failed.returncode != 0
    assert (failed.stdout, (student / "junit.xml").exists()) == ("", False)


def steps(workflow: Path) -> list[str]:
    """Return the commands of a workflow, each on its line."""
    return re.findall(r"^ +(?:run: |- (?=bash))(.*)$", workflow.read_text(), re.MULTILINE)


RUNNER = {
    "GITHUB_WORKSPACE": "/home/runner/work/lab", "RUNNER_TEMP": "/home/runner/temp", "GITHUB_ACTIONS": "true",
    "GITHUB_STEP_SUMMARY": "/home/runner/told/summary.md",
}  # fmt: skip


def runner(made: Callable[[str], Path], home: Path, kind: str) -> tuple[Machine, list[str]]:
    """Return a runner that has checked a submission out, and the commands of its workflow."""
    machine = Machine()
    place = machine.folder(RUNNER["GITHUB_WORKSPACE"], home)
    machine.folder("/home/runner/told", home)
    shutil.copytree(made("github"), place, dirs_exist_ok=True)
    hand_in(place, kind)
    return machine, steps(place / ".github" / "workflows" / "warpgrade.yml")


def run_step(machine: Machine, words: str) -> subprocess.CompletedProcess[str]:
    return machine.run(["bash", "-e", "-c", variables(words, RUNNER)], cwd=RUNNER["GITHUB_WORKSPACE"], values=RUNNER)


@pytest.fixture(scope="session")
def runner_temp(made: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the workflow's first step leaves in $RUNNER_TEMP."""

    def install(home: Path) -> None:
        machine, (words, _) = runner(made, home, "starter")
        machine.folder(RUNNER["RUNNER_TEMP"], home)
        done = run_step(machine, words)
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once.folder(tmp_path_factory, "github", install) / "home-runner-temp"


@pytest.mark.parametrize("kind", KINDS)
def test_github(kind: str, runner_temp: Path, made: Callable[[str], Path], tmp_path: Path) -> None:
    machine, (_, words) = runner(made, tmp_path, kind)
    machine.folders[RUNNER["RUNNER_TEMP"]] = runner_temp
    done = run_step(machine, words)
    assert done.returncode == (0 if kind == "reference" else 1), done.stdout + done.stderr
    told = (machine.folders["/home/runner/told"] / "summary.md").read_text()
    assert "of the public tests" in told
    assert "hidden" not in told


@pytest.mark.parametrize("kind", KINDS)
def test_gitlab(kind: str, machine: Machine, made: Callable[[str], Path], tmp_path: Path) -> None:
    place = machine.folder("/builds/course/lab", tmp_path)
    shutil.copytree(made("gitlab"), place, dirs_exist_ok=True)
    hand_in(place, kind)
    values = {"CI_PROJECT_DIR": "/builds/course/lab", "CI": "true", "GITLAB_CI": "true"}
    ends = []
    for command in steps(place / ".gitlab-ci.yml"):
        done = machine.run(["bash", "-c", command], cwd=values["CI_PROJECT_DIR"], values=values)
        ends.append(done.returncode)
    assert ends == [0, 0 if kind == "reference" else 1], done.stdout + done.stderr
    suite = ET.parse(place / "junit.xml").getroot()[0]  # noqa: S314 - ours
    assert int(suite.attrib["tests"]) == sum(not item.hidden for item in LAB.items)
    for entry in json.loads((place / "code-quality.json").read_text()):
        assert entry["location"]["path"] in FILES
    words = (place / "summary.md").read_text()
    assert "of the public tests" in words
    assert ("**Next:** static" in words) == (kind == "starter")


@pytest.mark.parametrize("kind", KINDS)
def test_classroom50(kind: str, opt: Path, made: Callable[[str], Path], tmp_path: Path) -> None:
    machine = Machine({"/opt/warpgrade": opt})
    place = machine.folder("/home/runner/work/lab", tmp_path)
    bundle = machine.folder("/home/runner/bundle", tmp_path)
    machine.folders["/home/runner/temp/warpgrade"] = opt  # installed by an earlier step of the same test
    shutil.copytree(made("classroom50") / "autograder", bundle, dirs_exist_ok=True)
    hand_in(place, kind)
    values = {
        "CLASSROOM": "gpu", "ASSIGNMENT": LAB.name, "SUBMISSION_TAG": "submit/1", "COMMIT_URL": "commit",
        "RELEASE_URL": "release", "REVIEW_URL": "review", "RUNNER_TEMP": "/home/runner/temp",
    }  # fmt: skip
    command = ["python3", "/home/runner/bundle/autograder.py"]
    done = machine.run(command, cwd="/home/runner/work/lab", values=values)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((place / "result.json").read_text())
    most = round(sum(item.points for item in LAB.items if not item.hidden))
    assert result["max-score"] == most
    assert (result["score"] == most) == (kind == "reference")
    failed = machine.run(command, cwd="/home/runner/work/lab", values=values, broken=True)
    assert failed.returncode != 0
    assert not (place / "result.json").exists()


def everything(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files, those in archives as well; not the wheels', which hold no lab."""
    found: dict[str, bytes] = {}
    for path in (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".whl"):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as packed:
                found |= {f"{path.name}/{name}": packed.read(name) for name in packed.namelist() if ".whl" not in name}
        else:
            found[path.name] = path.read_bytes()
    return found


@pytest.mark.parametrize("name", [platform.name for platform in template.list_platforms()])
def test_what_must_not_leave(name: str, made: Callable[[str], Path]) -> None:
    """No line of the reference and no source of a test; of hidden tests nothing where students could read it."""
    starter = {path.read_text() for path in LAB.starter_folder.iterdir()}
    lines = {line.strip() for path in LAB.reference_folder.iterdir() for line in path.read_text().splitlines()}
    secret = {line for line in lines if len(line) > 24 and not any(line in text for text in starter)}
    secret |= {str(LAYOUT.root), '#include "judge/'}
    if template.find_platform(name).about.tests == "public":
        secret |= {words for item in LAB.items if item.hidden for words in (item.name, item.hint) if words}
    shown = {item.hint for item in LAB.items if not item.hidden}
    for file, content in everything(made(name)).items():
        told = [words for words in secret - shown if words.encode() in content]
        assert told == [], file
