"""The page of a result or a program: what it shows where, and that no word of others becomes markup."""

import base64
import hashlib
import html
import html.parser
import re
from pathlib import Path

import msgspec
import pytest
from drawn_kernels import DEVICE, counted, drawn
from hostile import ANY, HOSTILE, hostile_result, one
from hypothesis import example, given
from hypothesis import strategies as st
from samples import GRADED, RACE, advice
from traced_launches import traced

from warpgrade.findings import diagnosis
from warpgrade.findings.accesses import Traces
from warpgrade.findings.diagnosis import Place
from warpgrade.grading.result import Check, FileInfo, Result
from warpgrade.lab.labs import Lab
from warpgrade.report import findings, hidden
from warpgrade.report.html import elements, page
from warpgrade.running.profile import Event, Profile

SOURCE = "__global__ void k(float* a) {\n    a[threadIdx.x] += 1;\n    __syncthreads();\n}\n"


class Elements(html.parser.HTMLParser):
    """Elements with their attributes and the text within."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(content.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def ids(self) -> list[str]:
        return [given["id"] or "" for _, given in self.found if "id" in given]


def graded(folder: Path) -> Result:
    (folder / "toy.cu").write_text(SOURCE, encoding="utf-8")
    race = msgspec.structs.replace(RACE, place=Place("toy.cu", 2), related=[])
    launch = {
        **msgspec.to_builtins(counted()), "kernel": "_Z1kPf", "name": "k", "duration_ns": 2000.0,
        "occupancy": {"achieved": 0.5, "blocks_per_multiprocessor": 8, "limiter": "warps", "theoretical": 1.0},
        "error": None, "stream": 0, "start_ns": 0.0,
    }  # fmt: skip
    failed = msgspec.structs.replace(
        GRADED.tests[0], status="fail", points=0.0, hidden=False, message="2 wrong\n\n3 wrong", hint="look again",
        signs=["wrong"], diagnostics=[race], launches=[launch],
    )  # fmt: skip
    files = [FileInfo("toy.cu", len(SOURCE), "")]
    return msgspec.structs.replace(
        GRADED, tests=[failed, *GRADED.tests[1:]],
        submission=msgspec.structs.replace(GRADED.submission, files=files),
    )  # fmt: skip


def test_the_page_shows_what_to_fix_with_its_line_and_what_each_line_costs(tmp_path: Path) -> None:
    result = graded(tmp_path)
    found = findings.result_findings(result)
    content = page.render_result(result, found, tmp_path)
    read = Elements(content)
    words = "".join(read.words)
    assert f"Fix this first: {result.tests[0].name}" in words
    assert words.count("2 wrong") == 1, "the failure to begin with is told once"
    links = [given["href"] or "" for tag, given in read.found if tag == "a"]
    assert links == ["#toy.cu-L2"]
    assert {link[1:] for link in links} <= set(read.ids())
    assert "25 %" in words
    assert "75 %" in words
    heats = [given["class"] for tag, given in read.found if tag == "td" and "heat" in (given.get("class") or "")]
    assert heats == ["number heat instructions-5", "number heat instructions-15 sectors-20", *["number heat"] * 3]
    assert ".instructions-15 { --instructions: 45% }" in content.decode(), "75 % of it in 60 % of the colour"
    titles = [given.get("title") for _, given in read.found]
    assert "300 instructions" in titles
    device = msgspec.structs.replace(result.device, properties=DEVICE)
    timed = Elements(page.render_result(msgspec.structs.replace(result, device=device), found, tmp_path))
    assert "heat0-time" in timed.ids()
    assert "8 sectors" in titles
    choices = [given["id"] for tag, given in read.found if tag == "input"]
    assert choices[-2:] == ["heat0-instructions", "heat0-sectors"], "nothing has bank conflicts"


def test_a_test_links_to_what_was_found_in_it_and_a_finding_to_the_other_party(tmp_path: Path) -> None:
    result = graded(tmp_path)
    party = msgspec.structs.replace(RACE.related[0], place=Place("toy.cu", 1))
    race = msgspec.structs.replace(RACE, place=Place("toy.cu", 2), related=[party])
    slow = advice(3, 5.0)
    slow = msgspec.structs.replace(slow, place=Place("toy.cu", 3))
    again = msgspec.structs.replace(result.tests[0], name="again", diagnostics=[race, slow])
    counts = msgspec.structs.replace(again, name="counts", diagnostics=[slow], signs=["counters"])
    wrong = msgspec.structs.replace(counts, name="wrong", signs=["wrong"])
    right = msgspec.structs.replace(counts, name="right", status="pass", points=counts.max_points)
    result = msgspec.structs.replace(result, tests=[result.tests[0], again, counts, wrong, right])
    content = page.render_result(result, findings.result_findings(result), tmp_path).decode()
    names = [test.name for test in result.tests[1:]]
    rows = {name: re.search(rf"<div>{name}</div>.*?</tr>", content, re.DOTALL) for name in names}
    links = {name: re.findall(r'href="#(.*?)"', row[0] if row else "") for name, row in rows.items()}
    assert links == {"again": ["toy.cu-L2"], "counts": ["toy.cu-L3"], "wrong": [], "right": []}
    assert f'{party.role} {party.thread.text if party.thread else ""} at <a href="#toy.cu-L1">toy.cu:1</a>' in content


def test_the_ptx_of_a_line_stands_below_it_on_demand(tmp_path: Path) -> None:
    result = graded(tmp_path)
    ptx = {"toy.cu": {2: ["ld.global.f32 %f1, [%rd1];", "ret; <b>"]}}
    content = page.render_result(result, [], tmp_path, ptx=ptx).decode()
    row = re.search(r'<tr id="toy.cu-L2">.*?</tr>', content, re.DOTALL)
    assert row is not None
    assert '<div class="ptx">ld.global.f32 %f1, [%rd1];\nret; &lt;b&gt;</div>' in row[0]
    assert 'id="ptx0-hidden" checked' in content
    assert content.count('class="ptx"') == 1
    assert 'id="ptx0-hidden"' not in page.render_result(result, [], tmp_path).decode()


def test_advice_stands_at_its_kernel_the_weightiest_first(tmp_path: Path) -> None:
    causes = {"a minor one": 10.0, "a major one": 500.0, "of another": 900.0}
    told = [
        msgspec.structs.replace(
            RACE, severity="advice", rule=f"advice/{message}", message=message, weight=weight, related=[],
            kernel="other" if message == "of another" else "k", place=Place("toy.cu", 2),
        )
        for message, weight in causes.items()
    ]  # fmt: skip
    profile = Profile(clock_ns=3000, kernels=[counted()])
    words = "".join(Elements(page.render_profile(profile, findings.program_findings(told))).words)
    assert words.index("k 1 launch") < words.index("a major one") < words.index("a minor one")
    assert "of another" not in words


def test_tests_with_points_to_gain_come_first_and_all_are_there(tmp_path: Path) -> None:
    result = graded(tmp_path)
    read = Elements(page.render_result(result, [], tmp_path))
    assert next(given["id"] for tag, given in read.found if tag == "input" and "checked" in given) == "tests-lost"
    rows = [given for tag, given in read.found if tag == "tr" and given.get("class") in ("lost", "kept")]
    assert len(rows) == len(result.tests)
    passed = msgspec.structs.replace(result, tests=[test for test in result.tests if test.points == test.max_points])
    assert passed.tests
    assert b'id="tests-lost"' not in page.render_result(passed, [], None)


def test_numbers_are_told_as_now_good_and_limit_and_hidden_tests_have_none(tmp_path: Path) -> None:
    checks = [
        Check("sectors", 32, "at most", 8, "fail", good=4, words="each once"),
        Check("copies", 2, "is", 2, "pass"),
    ]
    result = graded(tmp_path)
    tests = [msgspec.structs.replace(test, checks=checks) for test in result.tests]
    result = hidden.for_students(msgspec.structs.replace(result, tests=tests))
    assert [bool(test.checks) for test in result.tests] == [not test.hidden for test in result.tests]
    content = page.render_result(result, [], None).decode()
    row = re.compile(r"sectors <span[^>]*>each once</span></td>\s*<td class=\"number bad\">32</td>"
                     r"<td class=\"number\">4</td>\s*<td class=\"number\">≤ 8</td>")  # fmt: skip
    assert len(row.findall(content)) == sum(not test.hidden for test in result.tests)
    assert "1 number within the limits" in content
    assert "= 2</td>" in content


def test_files_that_are_gone_or_links_are_left_out(tmp_path: Path) -> None:
    result = graded(tmp_path)
    (tmp_path / "toy.cu").rename(tmp_path / "secret")
    (tmp_path / "toy.cu").symlink_to(tmp_path / "secret")
    assert b"threadIdx" not in page.render_result(result, [], tmp_path)
    assert b"threadIdx" not in page.render_result(result, [], None)


def test_a_program_that_was_run_has_its_kernels_and_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toy.cu").write_text(SOURCE, encoding="utf-8")
    profile = Profile(device={"name": "a device"}, clock_ns=3000, kernels=[counted(str(tmp_path / "toy.cu"))])
    race = msgspec.structs.replace(RACE, place=Place("toy.cu", 2), related=[])
    content = page.render_profile(profile, findings.program_findings([race])).decode()
    assert "3.00 µs on the device" in content
    assert 'href="#toy.cu-L2"' in content
    assert 'id="toy.cu-L2"' in content
    assert "number heat instructions-15" in content


def test_the_policy_allows_the_pages_own_style_and_script_alone() -> None:
    content = elements.page("a <title>", [], style="p { margin: 0 }", script="let a = 1 < 2;").decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', content)
    assert policy is not None
    given = dict(each.split(" ", 1) for each in html.unescape(policy[1]).split("; "))
    for rule, element in (("style-src", "style"), ("script-src", "script")):
        inside = re.search(rf"<{element}>(.*?)</{element}>", content, re.DOTALL)
        assert inside is not None
        digest = base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()
        assert given.pop(rule) == f"'sha256-{digest}'"
    assert set(given.values()) == {"'none'"}
    assert "script" not in elements.page("still", []).decode()


def without_points(result: Result) -> Result:
    return msgspec.structs.replace(result, tests=[msgspec.structs.replace(one, points=0) for one in result.tests])


@ANY
@given(
    words=HOSTILE | st.sampled_from(["<script>alert(1)</script>", "\"'><img src=x onerror=x>"]), line=st.integers(0, 4)
)
@example(words="</style><b>", line=1)
def test_words_of_others_stay_words(lab: Lab, words: str, line: int, tmp_path: Path) -> None:
    result = hostile_result(words, lab, line)
    (tmp_path / "my.cu").write_bytes(words.encode(errors="replace"))
    files = [FileInfo("my.cu", 1, "")]
    result = msgspec.structs.replace(result, device=msgspec.structs.replace(result.device, properties=DEVICE))
    result = msgspec.structs.replace(result, submission=msgspec.structs.replace(result.submission, files=files))
    profile = Profile(
        device={**DEVICE, "name": words}, call_errors=[words], kernels=[drawn(words), drawn("my.cu")],
        timeline=[Event(words, "kernel", 0, 0, 5), Event(words, "to_host", 1, 5, 5)],
    )  # fmt: skip
    traces = Traces()
    launch = traced(words, file=words)
    launch["trace"]["arrays"][0]["memory"]["name"] = words
    traces.add(launch)
    for content in (
        page.render_result(result, findings.result_findings(result), tmp_path, without_points(result)),
        page.render_profile(profile, findings.program_findings(diagnosis.merge([one(words, line)])), traces.kept),
    ):
        found = Elements(content).found
        recorded = {"type": "application/json", "id": "recorded"}
        assert [given_ for tag, given_ in found if tag == "script" and given_ != recorded] == [{}], "ours alone"
        for tag, given_ in found:
            assert tag in KNOWN, tag
            assert not [name for name in given_ if name.startswith("on") or name in FORBIDDEN]
            assert (given_.get("href") or "#").startswith("#")


FORBIDDEN = ("src", "srcset", "action", "style")
KNOWN = {
    "html", "head", "meta", "title", "style", "body", "header", "footer", "section", "h1", "h2", "div", "p", "pre",
    "table", "tr", "td", "th", "span", "strong", "a", "details", "summary", "input", "label", "figure", "figcaption",
    "svg", "desc", "rect", "text", "polyline", "circle", "line", "main", "h3", "select", "option", "button", "script",
    "code",
}  # fmt: skip


def test_the_page_ends_with_how_far_it_can_be_trusted() -> None:
    stated = GRADED.fidelity
    assert stated is not None
    lacking = msgspec.structs.replace(stated, unsupported=["<b>wgmma</b>"])
    shown = Elements(page.render_result(msgspec.structs.replace(GRADED, fidelity=lacking), [], None))
    words = " ".join(" ".join(shown.words).split())
    assert stated.summary in words
    for each in stated.modelled:
        assert f"{each.what}: {each.error}" in words
    assert "not supported <b>wgmma</b>" in words
    program = Elements(page.render_profile(Profile(fidelity=stated), []))
    assert stated.summary in " ".join(program.words)
    assert stated.summary not in " ".join(Elements(page.render_profile(Profile(), [])).words)
