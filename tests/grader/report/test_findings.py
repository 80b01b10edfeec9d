"""What the checks found, as a terminal, GitHub and SARIF show it."""

import io
import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console
from samples import GRADED, LEAK, RACE, advice

from warpgrade.findings.diagnosis import Barrier, Diagnostic, Memory, Place, Related, Thread
from warpgrade.grading import result as results
from warpgrade.grading.result import Result
from warpgrade.platforms.github import workflow_annotations as github
from warpgrade.report import diagnosis as diagnosis_report
from warpgrade.report import findings, hidden, terminal
from warpgrade.report.findings import Finding
from warpgrade.report.formats import sarif

GOLDEN = Path(__file__).parent / "golden"
SECRET = 918273  # wherever a test's data could show
HIDDEN = Diagnostic(
    rule="memcheck/out-of-bounds", severity="error", title="access out of bounds", help="Compare the index first.",
    message=f"reads 4 bytes, {SECRET} bytes past the end of `d_a` ({SECRET} bytes)", kernel=f"sum<{SECRET}>",
    place=Place("sum.cu", 12, code=SECRET, source="    total += a[i];"),
    thread=Thread((SECRET, 0, 0), (SECRET, 0, 0)),
    related=[Related("allocated", Place("sum.cu", 30, source="cudaMalloc(&d_a);"), Thread((SECRET, 1, 1), (0, 0, 0)))],
    memory=Memory("d_a", variable=True, bytes=SECRET, allocated=Place("sum.cu", 30)), count=SECRET, weight=SECRET,
)  # fmt: skip
ABSOLUTE = msgspec.structs.replace(RACE, place=Place("<cuda_fp16.hpp>", 7), related=[])
UNPLACED = msgspec.structs.replace(LEAK, place=Place(code=99))


def result_of(*tests: tuple[bool, list[Diagnostic]]) -> Result:
    rows = [
        results.TestResult(f"test {number}", "test", "pass", 1, 1, hidden=hidden, diagnostics=found)
        for number, (hidden, found) in enumerate(tests, 1)
    ]
    return msgspec.structs.replace(GRADED, tests=rows)


def rendered(found: list[Finding], width: int = 80, *, show_advice: bool = False) -> str:
    file = io.StringIO()
    diagnosis_report.show(Console(file=file, width=width, highlight=False), found, advice=show_advice)
    return "".join(line.rstrip() + "\n" for line in file.getvalue().splitlines())


def as_findings(*diagnostics: Diagnostic) -> list[Finding]:
    return findings.program_findings(diagnostics)


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_several_tests_that_found_the_same_show_it_once() -> None:
    found = findings.result_findings(result_of((False, [RACE, LEAK]), (False, [RACE]), (False, [])))
    assert [(one.diagnostic.rule, one.tests) for one in found] == [
        ("racecheck/shared", ("test 1", "test 2")),
        ("memcheck/leak", ("test 1",)),
    ]
    assert found[0].diagnostic.count == 2 * RACE.count


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("reads 4 bytes, 4 bytes before `d_x` (11,200 bytes)", "The index is negative"),
        ("updates 4 bytes, 1 byte before the beginning of shared memory", "The index is negative"),
        ("reads 4 bytes at index 4,294,967,295 of `d_x` (-1 converted to unsigned)", "The index is negative"),
        ("writes 4 bytes directly past the end of the block's 200 bytes of shared memory; 13 more", "third argument"),
        ("writes 4 bytes, 40 bytes past the end of the block's 1,200 bytes of shared memory", "third argument"),
        ("reads 4 bytes directly past the end of the block's 100 bytes of dynamic shared memory", "third argument"),
        ("writes 4 bytes directly past the end of `s` (1,024 bytes) in shared memory", "declaration"),
        ("writes 4 bytes directly past the end of `d_x` (1,024 bytes)", "Compare the index first."),
        ("writes 4 bytes of shared memory, but the launch gives the block none: its size is the third", "<<<blocks"),
        ("", "Compare the index first."),
    ],
)
def test_what_to_do_about_an_access_out_of_bounds_depends_on_where_it_went(message: str, words: str) -> None:
    (finding,) = as_findings(msgspec.structs.replace(HIDDEN, message=message))
    assert words in finding.help
    (told,) = findings.result_findings(result_of((True, [msgspec.structs.replace(HIDDEN, message=message)])))
    assert told.help == "Compare the index first."  # of a hidden test, nothing that depends on its data


@pytest.mark.parametrize(
    ("memory", "size"),
    [("`d_x` (4,096 bytes)", "asked for"), ("the block's 1,024 bytes of shared memory", "third argument")],
)
def test_where_the_first_thread_goes_beyond_the_end_it_is_not_that_there_are_too_many(memory: str, size: str) -> None:
    def advice(message: str, thread: Thread) -> str:
        (finding,) = as_findings(msgspec.structs.replace(HIDDEN, message=message, thread=thread))
        return finding.help

    beyond = f"reads 4 bytes directly past the end of {memory}"
    first = Thread((0, 0, 0), (0, 0, 0))
    assert "one turn too late" in advice(beyond, first)
    assert size in advice(beyond, first)
    assert "one turn too late" not in advice(beyond, Thread((0, 0, 0), (1, 0, 0)))
    assert "declaration" in advice("reads 4 bytes directly past the end of `s` (256 bytes) in shared memory", first)
    assert "is negative" in advice(f"reads 4 bytes, 4 bytes before {memory}", first)


@pytest.mark.parametrize(
    ("rule", "message", "source", "words"),
    [
        ("launch/configuration", "the block has 1,172 threads in x, but the limit is 1024", "", "blocks first"),
        ("launch/configuration", "the grid has 0 blocks in x", "", "rounded up"),
        ("launch/configuration", "the block has 0 threads in x", "", "rule's own"),
        ("launch/failed", "was stopped because the program's time was over; 1 of 2 blocks are done", "", "a smaller"),
        ("launch/failed", "is still in this loop when the program's time is over; 0 of 1 block", "", "does it end"),
        ("launch/failed", "stopped at an assertion", "", "rule's own"),
        ("memcheck/copy-direction", "the destination is host memory", "cudaMemcpy(&d_n, &n, 4, …);", "without &"),
        ("memcheck/copy-direction", "the destination is host memory", "cudaMemcpy(d_n, &n, 4, …);", "rule's own"),
        ("memcheck/use-after-free", "copies 4 bytes from `d_x`, which was freed", "", "after the last copy"),
        ("memcheck/use-after-free", "reads 4 bytes of `d_x`, which was freed", "", "rule's own"),
        ("memcheck/host-pointer", "reads 4 bytes at 0x7f, which is host memory", "", "cudaHostGetDevicePointer"),
        ("memcheck/out-of-bounds", "writes 4 bytes directly past the end of `d_x` (12 bytes)", "", "rule's own"),
        ("memcheck/out-of-bounds", "writes 4 bytes, 116 bytes past the end of `d_x` (12 bytes)", "", "each row, warp"),
        ("memcheck/out-of-bounds", "reads 16 bytes, 1 byte past the end of `d_x` (12 bytes)", "", "rule's own"),
        ("memcheck/copy-out-of-bounds", "copies 8 bytes to a local variable of the host's, which …", "", "as in &x"),
        (
            "launch/host-dereference",
            "host code reads 8 bytes before `d_x`, as free() and delete do, but cudaFree frees it",
            "",
            "free() or delete",
        ),
        ("launch/host-dereference", "host code reads `d_x`, an address in device memory", "", "rule's own"),
    ],
)
def test_what_to_do_depends_on_what_was_done(rule: str, message: str, source: str, words: str) -> None:
    place = Place("sum.cu", 3, source=source)
    one = msgspec.structs.replace(HIDDEN, rule=rule, message=message, place=place, help="the rule's own")
    (finding,) = as_findings(one)
    assert words in finding.help


@pytest.mark.parametrize(
    ("line", "source", "thread", "block", "words"),
    [
        (3, "    counts[b] += mine[b];", 0, 1, "Use atomicAdd"),
        (4, "    s[t] = d[t];", 0, 1, "number of blocks first"),
        (4, "    s[t] = d[t];", 7, 1, "rule's own"),
        (4, "    s[t] = d[t];", 0, 0, "rule's own"),
        (3, "    d[i] = d[i + 1];", 0, 1, "rule's own"),
    ],
)
def test_a_race_between_blocks_of_one_thread_may_be_a_launch_the_wrong_way_round(
    line: int, source: str, thread: int, block: int, words: str
) -> None:
    race = msgspec.structs.replace(
        RACE, rule="racecheck/global", help="the rule's own", place=Place("sum.cu", 3, source=source), barrier=None,
        thread=Thread((thread, 0, 0), (block, 0, 0)),
        related=[Related("written by", Place("sum.cu", line), Thread((0, 0, 0), (0, 0, 0)))],
    )  # fmt: skip
    (finding,) = as_findings(race)
    assert words in finding.help


@pytest.mark.parametrize(
    ("thread", "message", "words"),
    [
        (0, "writes 1 byte, 3,520 bytes past the end of the block's 832 bytes of shared memory", "not n bytes"),
        (0, "writes 1 byte directly past the end of the block's 832 bytes of shared memory", "one turn too late"),
        (5, "writes 1 byte, 3,520 bytes past the end of the block's 832 bytes of shared memory", "third argument"),
    ],
)
def test_how_far_an_access_is_out_of_bounds_tells_its_cause(thread: int, message: str, words: str) -> None:
    place = Thread((thread, 0, 0), (0, 0, 0))
    (finding,) = as_findings(
        msgspec.structs.replace(HIDDEN, rule="memcheck/out-of-bounds", message=message, thread=place)
    )
    assert words in finding.help


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("    if (x[i] > limit) count++;", "use atomicAdd"),
        ("    for (int j = i; j < n; j += 1) x[j] *= factor;", "use atomicAdd"),
        ("    sums[blockIdx.x] += sum;", "use atomicAdd"),
        ("    if (i < n) counts[data[i]]++;", "use atomicAdd"),
        ("    if (t < stride) s[t] += s[t + stride];", "Read into a variable first"),
        ("    for (int d = 1; d < n; d += 1) s[t] = s[t + d];", "Read into a variable first"),
    ],
)
def test_a_race_of_threads_that_change_one_element_asks_for_an_atomic(source: str, words: str) -> None:
    place = Place("sum.cu", 3, source=source)
    race = msgspec.structs.replace(
        RACE, rule="racecheck/warp", place=place, related=[Related("read by", place, RACE.thread)],
        barrier=Barrier([], of_warp=False),
    )  # fmt: skip
    (finding,) = as_findings(race)
    assert words in finding.help


STORES = "writes an element of `sums` that another thread writes, with no order between the two"
AT_ONCE = "writes an element of `sums` that other threads write at the same time, with different values"
SUMS = Memory("sums", variable=True, bytes=64, allocated=Place("sum.cu", 1))


def race_of_stores(rule: str, message: str, *lines: tuple[int, str], other: tuple[int, int] = (1, 1)) -> Diagnostic:
    first, second = (Place("sum.cu", number, source=source) for number, source in (lines[0], lines[-1]))
    return msgspec.structs.replace(
        RACE, rule=rule, message=message, place=first, memory=SUMS, help="the rule's own",
        thread=Thread((0, 0, 0), (0, 0, 0)),
        related=[Related("written by", second, Thread((other[0], 0, 0), (other[1], 0, 0)))],
        barrier=None if rule == "racecheck/global" else Barrier([(3, 4)] if len(lines) > 1 else [], of_warp=False),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "message", "lines", "words"),
    [
        ("racecheck/warp", AT_ONCE, ["    sums[lane] = value;"], "Two threads store to the same element"),
        ("racecheck/global", STORES, ["    out[n * j + i] = value;"], "Two threads store to the same element"),
        ("racecheck/global", STORES, ["    *out = value;"], "Two threads store to the same element"),
        ("racecheck/global", STORES, ["    out[i] = a;", "    out[j] = b;"], "Two lines store to the same element"),
        ("racecheck/shared", STORES, ["    a[t] = x;", "    b[t] = y;"], "Do the two arrays overlap?"),
        # What it stores comes from the element, an atomic is the other party, or the source is not known.
        ("racecheck/global", STORES, ["    out[b] = out[b] + 1;"], "the rule's own"),
        ("racecheck/global", STORES, ["    *out = *out + 1;"], "the rule's own"),
        ("racecheck/global", STORES, ["    out[counts[b]] += 1;"], "Use atomicAdd"),
        ("racecheck/global", STORES.replace("thread writes", "thread changes"), ["    out[0] = 0;"], "the rule's own"),
        ("racecheck/global", STORES, [""], "the rule's own"),
        ("racecheck/shared", STORES, ["    s[t] = x;", "    s[0] += y;"], "Put __syncthreads() between lines 3 and 4"),
    ],
)
def test_where_threads_only_store_the_index_is_asked_about(
    rule: str, message: str, lines: list[str], words: str
) -> None:
    (finding,) = as_findings(race_of_stores(rule, message, *enumerate(lines, 3)))
    assert finding.help.startswith(words)
    told = words.startswith("Two threads") and rule == "racecheck/global"
    assert ("To add up" in finding.help) == told


def test_stores_to_what_others_read_still_lack_a_barrier() -> None:
    stores = race_of_stores("racecheck/shared", STORES, (3, "    s[t] = x;"), (4, "    s[0] = y;"))
    reads = msgspec.structs.replace(
        stores, message="reads an element of `sums` that another thread writes", place=Place("sum.cu", 9)
    )
    assert {finding.help for finding in as_findings(stores, reads)} == {
        "Put __syncthreads() between lines 3 and 4: all threads of the block must reach it."
    }
    (alone,) = as_findings(stores)
    assert "between lines 3 and 4" in alone.help
    elsewhere = msgspec.structs.replace(
        reads, memory=msgspec.structs.replace(SUMS, name="others"), barrier=Barrier([(8, 9)], of_warp=False)
    )
    assert any("overlap" in finding.help for finding in as_findings(stores, elsewhere))


def test_a_kernel_without_end_may_lack_its_constant() -> None:
    endless = msgspec.structs.replace(HIDDEN, rule="launch/runaway", kernel="k", help="Check the loop's condition.")
    constant = msgspec.structs.replace(
        HIDDEN,
        rule="initcheck/constant",
        severity="warning",
        kernel="k",
        memory=msgspec.structs.replace(SUMS, name="w"),
    )
    first, second = as_findings(endless, constant)
    assert first.help.startswith("`w` in constant memory is 0: call cudaMemcpyToSymbol before the launch.")
    assert first.help.endswith("check the loop's condition.")
    assert second.help == constant.help
    elsewhere, _ = as_findings(endless, msgspec.structs.replace(constant, kernel="other"))
    assert elsewhere.help == endless.help


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ((1, 0), "although their threadIdx.x differs"),
        ((0, 1), "although their blockIdx.x differs"),
        ((1, 1), "element: does"),
    ],
)
def test_where_threads_differ_in_one_number_it_is_named(other: tuple[int, int], words: str) -> None:
    (finding,) = as_findings(race_of_stores("racecheck/global", STORES, (3, "    out[j] = x;"), other=other))
    assert words in finding.help


def test_a_race_that_came_out_either_way_is_shown_once() -> None:
    (other,) = RACE.related
    turned = msgspec.structs.replace(RACE, place=other.place, related=[Related("read by", RACE.place, RACE.thread)])
    third = msgspec.structs.replace(turned, related=[Related("read by", Place("reverse.cu", 30), RACE.thread)])
    assert [one.diagnostic for one in as_findings(RACE, turned, third)] == [RACE, third]
    assert len(findings.result_findings(result_of((False, [RACE]), (False, [turned])))) == 1


def in_all_outlets(result: Result) -> dict[str, str]:
    found = findings.result_findings(result)
    console = io.StringIO()
    terminal.show(Console(file=console, width=100, highlight=False), result)
    return {
        "terminal": console.getvalue(),
        "advice": rendered(found, show_advice=True),
        "github": github.commands(found),
        "sarif": sarif.encode(found).decode(),
    }


def test_hidden_tests_tell_rule_title_and_help_and_nothing_else() -> None:
    result = result_of((True, [HIDDEN, msgspec.structs.replace(HIDDEN, place=Place(code=SECRET))]))
    for outlet, text in in_all_outlets(result).items():
        # A line is the program's choice: with #line and .loc it has as many as it likes.
        for word in (str(SECRET), f"{SECRET:,}", "sum.cu", "d_a", "total += a[i];"):
            assert word not in text, outlet
        assert "access out of bounds" in text, outlet
        assert "memcheck/out-of-bounds" in text, outlet
        assert "Compare the index first." in text, outlet
    assert len(findings.result_findings(result)) == 1
    shown = findings.result_findings(result, show_hidden=True)
    assert str(SECRET) in rendered(shown)
    assert "sum.cu:12" in rendered(shown)


def test_lines_that_count_tell_nothing_of_a_hidden_test() -> None:
    lines = [msgspec.structs.replace(HIDDEN, place=Place("sum.cu", number)) for number in range(1, 300)]
    public = [msgspec.structs.replace(one, message="", count=1, weight=0.0, related=[]) for one in lines]
    texts = [in_all_outlets(result_of((False, public), (True, [lines[size]]))) for size in (3, 250)]
    assert texts[0] == texts[1]
    texts = [in_all_outlets(result_of((False, [RACE]), (True, [lines[size]]))) for size in (3, 250)]
    assert texts[0] == texts[1]


def test_neither_how_often_nor_in_which_order_tells_of_a_hidden_test() -> None:
    first, second = HIDDEN, msgspec.structs.replace(LEAK, count=3)
    forth = result_of((False, []), (True, [first, second]), (True, []))
    back = result_of((False, []), (True, [second, second]), (True, [first]))
    assert in_all_outlets(forth) == in_all_outlets(back)
    assert "found in: hidden tests" in in_all_outlets(forth)["terminal"]
    assert "test 2" not in rendered(findings.result_findings(forth))


def test_messages_numbers_and_launches_of_hidden_tests_stay() -> None:
    told = {
        "message": f"the device cannot run this program: no opcode size_{SECRET}", "hint": "Think of the edge.",
        "seconds": float(SECRET), "measurements": [results.Measurement("speedup", SECRET, "x")],
        "launches": [{"kernel": f"k{SECRET}"}],
    }  # fmt: skip
    for status in ("pass", "fail", "error"):
        row = results.TestResult("odd sizes", "test", status, 1, 1, hidden=True, **told)  # type: ignore[arg-type]
        result = msgspec.structs.replace(GRADED, tests=[row])
        for outlet, text in in_all_outlets(result).items():
            assert str(SECRET) not in text, outlet
        assert str(SECRET) not in str(hidden.for_students(result).tests)
    assert "the grader could not judge this test" in in_all_outlets(result)["terminal"]


def test_notes_for_review_of_hidden_tests_are_a_fixed_text() -> None:
    notes = ["test 1: its output is too long", f"test 2: it ran {SECRET}", f"test 2: it made {SECRET} files"]
    result = msgspec.structs.replace(result_of((False, []), (True, [])), review=notes)
    assert hidden.for_students(result).review == [notes[0], "test 2: something that honest work does not do"]
    text = in_all_outlets(result)["terminal"]
    assert "its output is too long" in text
    assert str(SECRET) not in text


def test_what_a_public_test_found_too_is_told_in_full_and_once() -> None:
    public = msgspec.structs.replace(HIDDEN, message="reads 4 bytes, 8 bytes past the end", count=1, weight=0)
    (found,) = findings.result_findings(result_of((True, [HIDDEN]), (False, [public])))
    assert found.diagnostic == public
    assert found.tests == ("test 2",)


# --- terminal --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [50, 100])
def test_golden(width: int) -> None:
    result = result_of((False, [RACE, LEAK, ABSOLUTE, UNPLACED]), (False, [RACE]), (False, [RACE]), (True, [HIDDEN]))
    text = rendered(findings.result_findings(result), width)
    path = GOLDEN / f"findings-{width}.txt"
    if os.environ.get("WARPGRADE_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    assert all(len(line) <= width for line in text.splitlines())


def test_advice_waits_until_there_are_no_errors_and_then_the_weightiest_is_shown() -> None:
    hints = [advice(line, line) for line in range(1, 6)]
    text = rendered(as_findings(*hints, LEAK))
    assert [line for line in range(1, 6) if f"copy.cu:{line}" in text] == [3, 4, 5]
    assert text.index("copy.cu:5") < text.index("copy.cu:4") < text.index("copy.cu:3")
    assert "2 more pieces of advice on speed: --advice shows them" in text
    assert "copy.cu" not in rendered(as_findings(*hints, RACE))
    assert "5 pieces of advice on speed: --advice" in rendered(as_findings(*hints, RACE))
    whole = rendered(as_findings(*hints, RACE), show_advice=True)
    assert all(f"copy.cu:{line}" in whole for line in range(1, 6))
    assert "Let neighbouring threads" in whole


def test_all_errors_are_shown_the_first_ones_in_full() -> None:
    many = [msgspec.structs.replace(RACE, place=Place("reverse.cu", line), related=[]) for line in range(1, 21)]
    text = rendered(as_findings(*many))
    assert all(f"reverse.cu:{line}" in text for line in range(1, 21))
    assert text.count("help: ") == 8


def test_nothing_found_prints_nothing() -> None:
    assert rendered([]) == ""


def test_colours_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    def text() -> str:
        file = io.StringIO()
        diagnosis_report.show(Console(file=file, width=80, highlight=False, force_terminal=True), as_findings(RACE))
        return file.getvalue()

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;31merror" in text()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in text()


# --- GitHub ----------------------------------------------------------------------------------------------------------


def test_annotations_are_escaped() -> None:
    odd = msgspec.structs.replace(
        RACE, title="50 %, a: b", message="100 %\n::error::forged", place=Place("a,b:c.cu", 3), related=[], count=1
    )
    (line,) = github.commands(as_findings(odd), "hand-ins/jane/").splitlines()
    head, _, data = line.removeprefix("::").partition("::")
    assert head == ("error file=hand-ins/jane/a%2Cb%3Ac.cu,line=3,title=50 %25%2C a%3A b [racecheck/shared]")
    assert data.startswith("thread (33,0,0) of block (0,0,0) 100 %25%0A::error::forged%0APut __syncthreads()")


def test_at_most_ten_annotations_of_a_kind_errors_first() -> None:
    many = [msgspec.structs.replace(RACE, place=Place("r.cu", line), related=[]) for line in range(1, 15)]
    lines = github.commands(as_findings(*[advice(n, n) for n in range(1, 15)], LEAK, *many)).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error"] * 10 + ["::warning"] + ["::notice"] * 10
    assert "line=14," in lines[11]  # the weightiest


def test_an_annotation_without_a_line_of_the_users() -> None:
    for one in (ABSOLUTE, UNPLACED):
        assert "file=" not in github.commands(as_findings(one))


# --- SARIF -----------------------------------------------------------------------------------------------------------


def check_sarif(log: dict[str, Any]) -> list[dict[str, Any]]:
    """Check what SARIF 2.1.0 demands of the parts that we write, and return the results."""
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "Warpgrade"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    for one in run["results"]:
        assert one["ruleId"] == ids[one["ruleIndex"]]
        assert one["level"] in ("error", "warning", "note")
        assert one["message"]["text"]
        assert one["occurrenceCount"] >= 1
        for location in [*one["locations"], *one.get("relatedLocations", [])]:
            physical = location["physicalLocation"]
            uri = physical["artifactLocation"]["uri"]
            assert not uri.startswith(("/", "..", "file:"))
            assert "%2F" not in uri
            assert physical["region"]["startLine"] >= 1
        related = [location["id"] for location in one.get("relatedLocations", [])]
        assert len(related) == len(set(related))
        assert all(location["message"]["text"] for location in one.get("relatedLocations", []))
    return list(run["results"])


def test_sarif_has_rules_places_and_the_other_party() -> None:
    found = as_findings(RACE, LEAK, advice(4, 2), advice(9, 1), ABSOLUTE, UNPLACED)
    results = check_sarif(json.loads(sarif.encode(found, "hand-ins/my work/")))
    assert [one["level"] for one in results] == ["error", "error", "warning", "warning", "note", "note"]
    race = results[0]
    place = race["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "hand-ins/my%20work/reverse.cu", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 18, "snippet": {"text": RACE.place.source}}
    assert race["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 17
    assert race["relatedLocations"][0]["message"]["text"].startswith("written by thread (30,0,0)")
    assert race["occurrenceCount"] == RACE.count
    assert [one["locations"] for one in (results[1], results[3])] == [[], []]


def test_what_lies_outside_the_repository_has_no_place() -> None:
    outside = msgspec.structs.replace(RACE, place=Place("../up/a.cu", 3), related=[])
    assert check_sarif(sarif.log(as_findings(outside)))[0]["locations"] == []
    assert "file=" not in github.commands(as_findings(outside))
    assert "file=up/a.cu,line=3" in github.commands(as_findings(outside), "below/")


def test_sarif_of_nothing_is_a_run_without_results() -> None:
    assert check_sarif(sarif.log([])) == []
