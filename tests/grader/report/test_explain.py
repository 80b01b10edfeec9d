"""`explain`: each rule, counter, test and word has its page, in a package as well, and no hidden hint is told."""

import io
import re
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from samples import GRADED, RACE, advice
from stand_ins import run

from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine import paths
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import Layout, find_layout
from warpgrade.report import explain, markdown, terminal

ROOT = find_layout().root
RULES_FILE, COUNTERS_FILE = (ROOT / "grader" / "device" / name for name in ("rules.def", "counters.def"))
RULES = re.findall(
    r'^WG_RULE\(\w+,\s*"([^"]+)",\s*\w+,\s*"([^"]+)"', (ROOT / "grader/device/rules.def").read_text(), re.M
)
COUNTERS = re.findall(r'^WG_COUNTER\((\w+), "([^"]+)", "([^"]+)"\)', COUNTERS_FILE.read_text(), re.M)
MEASURES = re.sub(r"\s+", " ", (ROOT / "grader" / "judge" / "measures.cpp").read_text())
PUBLIC = explain.topics()


def rendered(page: str, width: int = 60, *, styled: bool = False) -> str:
    file = io.StringIO()
    markdown.show(Console(file=file, width=width, highlight=False, force_terminal=styled), page)
    return file.getvalue()


def test_every_rule_has_its_page() -> None:
    assert len(RULES) > 20
    for rule, title in RULES:
        (topic,) = explain.find(rule, PUBLIC)
        assert topic.kind == "rule"
        assert title.lower() in topic.page.replace("`", "").lower()
        assert topic in explain.find(title, PUBLIC)
        assert explain.find(f"[{rule}]", PUBLIC) == [topic]


def test_every_counter_has_its_page_by_each_of_its_names() -> None:
    assert len(COUNTERS) > 30
    for counter, metric, meaning in COUNTERS:
        (topic,) = [one for one in explain.find(counter, PUBLIC) if one.kind == "counter"]
        assert explain.find(metric, PUBLIC) == [topic]
        (line,) = re.findall(rf"^- `{counter}`, in Nsight Compute `{re.escape(metric)}`.*$", topic.page, re.M)
        assert line.endswith(f": {meaning}")


def test_the_counters_by_the_names_that_tests_use() -> None:
    named = re.findall(r'count\("([^"]+)", (from\.counters[^;]*?)\);', MEASURES)
    assert len(named) > 15
    for name, what in named:
        found = {each for topic in explain.find(name, PUBLIC) if topic.kind == "counter" for each in topic.names}
        missing = set(re.findall(r"counters\.(\w+)", what)) - found
        assert not missing, f"docs/counters.md does not give “{name}” with {missing}"


def test_every_function_of_the_runtime_has_its_page() -> None:
    functions = {name for topic in PUBLIC if topic.kind == "function" for name in topic.names}
    table = (ROOT / "grader" / "cudart" / "client" / "api.def").read_text(encoding="utf-8")
    works = {name for name in re.findall(r"^WG_CUDA_WORKS\((\w+)", table, re.M) if not name.startswith("_")}
    refused = set(re.findall(r"^WG_CUDA_REFUSED\((\w+)", table, re.M))
    assert len(works) > 150
    assert len(refused) > 50
    page = (ROOT / "docs" / "supported.md").read_text(encoding="utf-8")
    assert {name for name in works | refused if f"`{name}`" in page} <= functions
    (copy,) = explain.find("cudaMemcpy", PUBLIC)
    assert "The destination comes first" in copy.page
    assert "memcheck/copy-direction" in copy.page
    assert explain.find("cudaFreeHost", PUBLIC) == explain.find("cudaMallocHost", PUBLIC)
    assert "works here" in explain.find("cudaGraphLaunch", PUBLIC)[0].page
    assert "Labs do not provide" in explain.find("cuLaunchKernel", PUBLIC)[0].page
    assert "no sharing with other processes (IPC)" in explain.find("cudaIpcOpenMemHandle", PUBLIC)[0].page
    with pytest.raises(BadInput, match="nothing is known about") as caught:
        explain.find("cudaMemCopy", PUBLIC)
    assert "cudaMemcpy (function)" in caught.value.detail


def test_functions_that_students_meet_have_their_mistakes_and_the_rules_are_there() -> None:
    page = (ROOT / "docs" / "runtime.md").read_text(encoding="utf-8")
    sections = {section["name"]: section["body"] for section in explain._SECTION.finditer(page)}
    for name, body in sections.items():
        contract, _, mistakes = body.strip().partition("\n\n")
        assert "\n" not in contract, name
        assert all(line.startswith("- ") for line in mistakes.strip().splitlines()), name
        assert mistakes, name
    named = set(re.findall(r"\((\w+/[\w-]+)\)", page))
    assert named <= {rule for rule, _ in RULES}, named
    explained = {name for names in sections for name in names.split(", ")}
    starters = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "starter").rglob("*.cu"))
    met = set(re.findall(r"\b(cuda[A-Z]\w+)\(", starters))
    assert met
    assert met <= explained


def test_words_of_the_glossary() -> None:
    (warp,) = explain.find("Warp", PUBLIC)
    assert "32 threads" in warp.page
    assert explain.find("warps", PUBLIC) == [warp]
    (cache,) = explain.find("L2", PUBLIC)
    assert cache.names[0] == "cache, L1, L2"
    assert {topic.kind for topic in explain.find("bank conflicts", PUBLIC)} == {"rule", "glossary"}


def test_a_test_of_a_lab(lab: Lab) -> None:
    (lab.folder / "tests").mkdir()
    source = '#include "toy.h"\n\n// Sums of 1 * 2\n// and more.\nTEST_CASE("adds", "[public]") {}\n'
    (lab.folder / "tests" / "public.cpp").write_text(source, encoding="utf-8")
    known = explain.topics([lab])
    (adds,) = explain.find("adds", known)
    shown = rendered(adds.page)
    assert "A public test of lab toy (Adding vectors), worth 10 points." in shown
    assert "Sums of 1 * 2 and more." in shown
    assert "labs/toy/tests/public.cpp:5" in shown
    assert "Which element is this thread's?" in shown
    (speed,) = explain.find("toy: speed", known)
    assert "0 at 1×; 10 at 3×" in speed.page
    (hidden,) = explain.find("adds odd sizes", known)
    assert "worth 20 points" in hidden.page
    assert "Guard the last block" not in hidden.page


def test_no_hint_of_a_hidden_test_is_told() -> None:
    for lab in labs.discover(find_layout()):
        topics = {topic.names[0]: topic.page for topic in explain.topics([lab]) if topic.kind.startswith("test")}
        public = "".join(topics[item.name] for item in lab.items if not item.hidden)
        for item in lab.items:
            if item.hidden:
                assert item.hint not in topics[item.name]
            else:
                assert "Read it at" in topics[item.name], item.name
                assert item.name.replace("*", r"\*") in public


@pytest.mark.parametrize(
    ("word", "near"),
    [("racecheck/shard", "racecheck/shared"), ("global_lod_sectors", "global_load_sectors"), ("warrp", "warp"),
     ("bank conflcts", "advice/bank-conflicts"), ("misalinged", "memcheck/misaligned")],
)  # fmt: skip
def test_near_names(word: str, near: str) -> None:
    with pytest.raises(BadInput, match="nothing is known about") as caught:
        explain.find(word, PUBLIC)
    assert f"{near} (" in caught.value.detail


def test_a_part_of_a_name_is_enough_where_there_is_one(lab: Lab) -> None:
    known = explain.topics([lab])
    assert explain.find("odd siz", known)[0].names[0] == "adds odd sizes"
    with pytest.raises(BadInput, match="“_requests” is part of several names") as caught:
        explain.find("_requests", known)
    assert "global_load_requests (counter)" in caught.value.detail
    with pytest.raises(BadInput, match="nothing is known about “xyzzy”"):
        explain.find("xyzzy", known)


def test_the_command(in_project: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "explain", "racecheck/shared")
    assert status == 0
    assert "    __syncthreads();            // right" in out
    assert "*" not in out
    assert run(capsys, "explain", "adds", "odd", "sizes")[1].startswith("adds odd sizes\n\nA hidden test of lab toy")
    status, out, err = run(capsys, "explain", "racecheck/shard")
    assert (status, out) == (2, "")
    assert "racecheck/shared (rule)" in err
    listed = run(capsys, "explain")[1]
    assert all(name in listed for name, *_ in [*RULES, *COUNTERS])
    (in_project.labs / "toy" / "lab.toml").write_text("[lab", encoding="utf-8")
    assert run(capsys, "explain", "warp")[0] == 0


@pytest.mark.parametrize("width", [40, 70, 200])
def test_pages_fit_their_width_and_are_plain_when_piped(width: int) -> None:
    for topic in PUBLIC:
        text = rendered(topic.page, width)
        assert "\x1b" not in text
        rows = [row for row in text.splitlines() if not row.startswith("    ")]
        assert all(len(row) <= min(width, 100) for row in rows if "__" not in row), topic.names
    assert "\x1b[" in rendered("some `code`", styled=True)
    assert "`" not in rendered("some `code`", styled=True)


def test_markdown() -> None:
    page = (
        "# A *title*\n\nText with `a * b`, **bold**,\n[a link](x.md) and int\\* p.\n\n"
        "- one\n- two that is longer than a line of the terminal can be here\n\n"
        "| a | b |\n|---|---|\n| `k` | v |\n\n```cpp\nint  i;\n\n  x\n```\n    code\n"
    )
    assert [line.rstrip() for line in rendered(page).splitlines()] == [
        "A title", "", "Text with `a * b`, bold, a link and int* p.", "",
        "- one", "- two that is longer than a line of the terminal can be", "  here", "",
        "a: b", "`k`: v", "", "    int  i;", "", "      x", "", "    code",
    ]  # fmt: skip


def test_a_package_has_the_pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shipped = re.search(r"foreach\(page ([\w ]+)\)", (ROOT / "cmake" / "portable.cmake").read_text(encoding="utf-8"))
    assert shipped is not None
    assert {f"{name}.md" for name in shipped[1].split()} == {*explain.PAGES, "student.md"}  # the latter for handouts
    monkeypatch.setattr(paths, "_NATIVE", tmp_path)
    with pytest.raises(GraderError, match=r"checks\.md cannot be read"):
        explain.topics()
    (tmp_path / "docs").mkdir()
    for name in explain.PAGES:
        (tmp_path / "docs" / name).write_bytes((ROOT / "docs" / name).read_bytes())
    assert explain.topics() == PUBLIC


def test_a_report_points_to_the_page_of_its_first_finding_once() -> None:
    def shown(*found: object) -> str:
        tests = [msgspec.structs.replace(GRADED.tests[1], diagnostics=list(found))]
        file = io.StringIO()
        terminal.show(Console(file=file, width=100), msgspec.structs.replace(GRADED, tests=tests))
        return file.getvalue()

    assert shown(RACE, advice(3, 1)).count("warpgrade explain ") == 1
    assert "warpgrade explain racecheck/shared" in shown(RACE, advice(3, 1))
    assert "warpgrade explain advice/uncoalesced" in shown(advice(3, 1))
    assert "explain" not in shown()
