"""Pairs of submissions that have more in common than what was given, and what of them a person is shown."""

import io
import json
import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from hostile import ACTS, ANY, HOSTILE
from hypothesis import given
from hypothesis import strategies as st
from page_reader import Reader
from rich.console import Console
from stand_ins import run

from warpgrade.cohort import fingerprints, similarity, similarity_page, tokens
from warpgrade.cohort.fingerprints import LENGTH, WINDOW, Index, hashes, winnow
from warpgrade.cohort.similarity import Similar, Source, compare
from warpgrade.lab import labs, right, variant
from warpgrade.lab.labs import Lab
from warpgrade.machine import paths
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import Layout

WORDS = ["x[t]", "n", "s[t + 1]", "3", "blockDim.x", "a", "f(b, c)", "(d)", "!e", "__ldg(&g)"]
SIGNS = ["+", "-", "*", "/", "%", "<", "&&", ">>", "==", "|"]


def program(seed: int, lines: int = 60) -> str:
    """Some code that no other seed has."""
    mixed = random.Random(seed)  # noqa: S311 - not for secrets

    def expression() -> str:
        words = [mixed.choice(WORDS)]
        for _ in range(mixed.randrange(1, 5)):
            words += [mixed.choice(SIGNS), mixed.choice(WORDS)]
        return " ".join(words)

    body = [mixed.choice(["    {} = {};", "    if ({}) {};", "    while ({}) {};", "    float q = {}; {};"])
            .format(expression(), expression()) for _ in range(lines)]  # fmt: skip
    return "#include <cstdio>\n__global__ void kernel(float* x, int n) {\n" + "\n".join(body) + "\n}\n"


def disguised(text: str) -> str:
    """The same with other names, numbers and comments, on other lines, in more braces."""
    for old, new in (("x[", "values["), (" s[", " tile["), ("kernel", "mine"), ("3", "0x7f"), (" q ", " temp "),
                     (";\n", ";  // mine\n\n"), ("void", "void /* own */")):  # fmt: skip
        text = text.replace(old, new)
    return text.replace("#include <cstdio>", "#include <iostream>\n#include <vector>") + "\n// the end\n"


def source(name: str, *texts: str, student: str = "") -> Source:
    files = {f"{chr(97 + i)}.cu": text.encode() for i, text in enumerate(texts)}
    return Source(student or name, name, lambda: files)


def names(found: Similar) -> list[set[str]]:
    return [{pair.left, pair.right} for pair in found.pairs]


def test_a_disguised_copy_is_found_and_nothing_else() -> None:
    everyone = [source(f"s{i}", program(i)) for i in range(30)]
    found = compare([*everyone, source("copy", disguised(program(7)) + "int more;")], [])
    assert names(found) == [{"s7", "copy"}]
    pair = found.pairs[0]
    assert pair.percent > 98
    assert (pair.pieces[0].left.first, pair.pieces[0].right.first) == (2, 3)
    assert pair.pieces[0].left.text.startswith("__global__ void kernel(")
    assert "void /* own */ mine(" in pair.pieces[0].right.text
    assert found.compared == 31


def test_a_part_of_a_copy_is_found_also_in_a_long_file() -> None:
    part = "\n".join(program(1).split("\n")[10:50])
    found = compare([source("ada", part), source("bob", program(2, 200), part, program(3, 300))], [])
    pair = found.pairs[0]
    assert (pair.left_percent, pair.pieces[0].right.file) == (100, "b.cu")
    assert pair.right_percent < 20
    assert compare([source("ada", part), source("bob", program(2, 200), program(3, 300))], []).pairs == []


def test_functions_in_another_order_are_the_same() -> None:
    parts = [program(i, 20) for i in range(4)]
    found = compare([source("ada", "".join(parts)), source("bob", "".join(reversed(parts)))], [])
    assert found.pairs[0].percent > 90
    assert len(found.pairs[0].pieces) > 1


def test_what_was_given_does_not_count() -> None:
    starter = program(1)
    sources = [source("ada", disguised(starter) + program(2, 20)), source("bob", starter + program(3, 20))]
    assert compare(sources, [starter]).pairs == []
    assert names(compare(sources, [])) == [{"ada", "bob"}]
    nothing = compare([source("ada", starter), source("bob", disguised(starter))], [starter])
    assert (nothing.pairs, nothing.same, nothing.without_own) == ([], [], ["ada", "bob"])


def test_given_lines_in_a_piece_are_not_shown() -> None:
    starter = program(1, 20)
    own = [program(i, 12).split("kernel(float* x, int n)")[1] for i in (2, 3)]
    sources = [source(name, f"{own[0]}{starter}{own[1]}{end}") for name, end in (("ada", ""), ("bob", ";"))]
    found = compare(sources, [starter])
    piece = found.pairs[0].pieces[0]
    assert "\n⋮\n" in piece.left.text
    assert "\n⋮\n" in Reader(similarity_page.page(found, "x")).text
    assert own[0].split("\n")[3] in piece.left.text
    assert own[1].split("\n")[3] in piece.left.text
    assert starter.split("\n")[12] not in piece.left.text


def test_what_many_have_does_not_count() -> None:
    page = program(99)
    many = [source(f"s{i}", page + program(i, 20)) for i in range(40)]
    found = compare(many, [])
    assert found.pairs == []
    assert found.common > 0
    # A copy of the rest is still seen.
    assert names(compare([*many, source("copy", disguised(page + program(5, 20)))], [])) == [{"s5", "copy"}]


def test_what_many_have_makes_no_small_thing_large() -> None:
    page, idiom = program(99, 80), program(98, 10)
    many = [source(f"s{i}", page + program(i, 20)) for i in range(40)]
    two = [source(f"two{i}", page + program(100 + i, 40) + idiom) for i in range(2)]
    assert names(compare([*many, *two], [], threshold=1)) == [{"two0", "two1"}]
    assert compare([*many, *two], [], threshold=35).pairs == []


def test_the_same_own_code_is_one_group_however_many_have_it() -> None:
    sources = [source(f"s{i}", disguised(program(1)) if i % 2 else program(1)) for i in range(30)]
    found = compare([*sources, source("near", program(1) + program(2, 10))], [])
    assert found.same == [[f"s{i}" for i in range(30)]]
    assert names(found) == [{"s0", "s1"}, {"s0", "near"}]  # two stand for all


def test_nobody_is_like_oneself() -> None:
    found = compare([source("first", program(1), student="ada"), source("second", program(1) + ";", student="ada")], [])
    assert (found.pairs, found.same) == ([], [])
    assert compare([source("a", program(1), student="ada"), source("b", program(1), student="ada")], []).same == []


def test_what_cannot_be_read_is_told() -> None:
    def refused() -> Mapping[str, bytes]:
        raise BadInput("\x1b[2Jx.zip contains a link")

    found = compare([Source("eve", "eve", refused), source("ada", program(1))], [])
    assert found.unread == ["eve: x.zip contains a link"]
    assert found.compared == 1


def test_the_worst_pairs_are_kept() -> None:
    sources = [source(f"{name}{i}", program(i) if name == "a" else disguised(program(i)) + program(50 + i, 10 * i))
               for i in range(5) for name in "ab"]  # fmt: skip
    found = compare(sources, [], most=3)
    assert len(found.pairs) == 3
    assert found.left_out == 2
    # The less there is beside the copy, the more alike the two are.
    assert [pair.left[1:] for pair in found.pairs] == ["0", "1", "2"]


@pytest.mark.parametrize(
    "content",
    [b";" * (4 << 20), b'R"(a' * (1 << 20), b"(" * (4 << 20), b"/*" * (2 << 20), b'"\\' * (2 << 20), b"a" * (4 << 20),
     b"\n #" * (1 << 20), b"/* *" * (1 << 20), b"\xff\x00\xed\xa0\x80" * (1 << 18), b"",
     b"".join(b'R"%d(' % i for i in range(300_000)), b" \t" * (2 << 20) + b"#"],
)  # fmt: skip
def test_hostile_files(content: bytes) -> None:
    """Time grows with the length: each of these would take hours if anything were looked at twice."""
    sources = [Source(str(i), str(i), lambda i=i: {"a.cu": content, "b.cu": program(i).encode()}) for i in range(2)]  # type: ignore[misc]
    found = compare(sources, [program(5)])
    assert found.compared + len(found.without_own) == 2
    assert similarity_page.page(found, "x")


def test_a_long_line_and_many_lines_are_shown_in_part() -> None:
    long = program(1).replace("\n", " ") + "\n" * 5000 + program(2)
    pair = compare([source("ada", long), source("bob", long + ";")], []).pairs[0]
    for piece in pair.pieces:
        assert len(piece.left.text) < 61 * 161
    assert len(similarity_page.page(Similar(pairs=[pair]), "x")) < 100_000


# --- the parts ---


def test_tokens() -> None:
    def same(first: str, second: str) -> bool:
        return tokens.read({"a": first}).codes == tokens.read({"a": second}).codes

    assert same("int a = b + 1; // x", "int  c=d+0x10f;/* y */")
    assert same('f("a\\"b", \'c\')', 'g(\'x\', R"q(\n)" )q")')
    assert same("if (a) { b(); }", "if (c)\n  d();")
    assert same("#include <a>\nint x;", "int x;")
    assert same("1.5e-3f", "2")
    assert not same("a + b", "a - b")
    assert not same("__syncthreads()", "mine()")
    assert not same("threadIdx.x", "blockIdx.x")
    assert not same("a << b", "a < < b")
    assert not same("float a", "double a")


def test_places() -> None:
    read = tokens.read({"b.cu": b"int\n\n  /* \n */ x;\n", "a.cu": 'R"(\n\n)"\ny'})
    places = [read.place(token) for token in range(len(read.codes))]
    assert places == [("a.cu", 1), ("a.cu", 4), ("a.cu", 4), ("b.cu", 1), ("b.cu", 4), ("b.cu", 4)]


@given(st.lists(st.integers(0, 3), max_size=60), st.lists(st.integers(0, 3), min_size=LENGTH + WINDOW - 1, max_size=40),
       st.lists(st.integers(4, 9), max_size=60))  # fmt: skip
def test_what_is_in_common_has_a_fingerprint_in_common(before: list[int], shared: list[int], other: list[int]) -> None:
    first, second = winnow(hashes([*before, *shared])), winnow(hashes([*other, *shared, *other]))
    assert first.keys() & second.keys()


@given(st.lists(st.sets(st.integers(0, 40), max_size=12), max_size=9), st.integers(2, 5))
def test_the_index_knows_who_shares(documents: list[set[int]], most: int) -> None:
    index = Index()
    prints = [{hash((value, "x")) & ((1 << 60) - 1): 0 for value in document} for document in documents]
    for each in prints:
        index.add(each)
    pairs, common = index.shared(most, 0.0)
    often = {value for value in {v for each in prints for v in each} if sum(value in each for each in prints) > most}
    assert common == {fingerprints.key_of(value) for value in often}
    rest = [each.keys() - often for each in prints]
    expected = {
        (first, second): len(rest[first] & rest[second])
        for first in range(len(rest)) for second in range(first + 1, len(rest)) if len(rest[first] & rest[second]) > 2
    }  # fmt: skip
    assert {
        (first, second): round(share * min(len(rest[first]), len(rest[second]))) for share, first, second in pairs
    } == expected


# --- a lab, and what people see ---


def test_a_real_lab_gives_its_starter_and_a_disguised_solution_is_seen() -> None:
    lab = labs.find(paths.find_layout(), "reduction")
    ways = {name: variant.files(lab, right.find(lab, name))[lab.main_file] for name in right.names(lab)}
    text = ways["parts_of_warps"]
    for old, new in (("sums", "partial"), ("stride", "step"), ("const int ", "int "), ("blocks", "grid")):
        text = text.replace(old, new)
    starter = (lab.starter_folder / lab.main_file).read_text(encoding="utf-8")
    sources = [source(name, each) for name, each in [*ways.items(), ("copy", text), ("starter", starter)]]
    found = compare(sources, similarity.given_code(lab))
    assert found.without_own == ["starter"]
    assert names(found)[0] == {"parts_of_warps", "copy"}


def test_given_is_starter_contract_and_what_the_sheet_quotes(lab: Lab) -> None:
    (lab.folder / "README.md").write_text("text\n\n```cpp\nquoted();\n```\n\nmore\n", encoding="utf-8")
    given_texts = similarity.given_code(lab)
    assert "quoted();\n" in given_texts
    assert "void toy(float* a, int n);\n" in given_texts
    assert "void toy(float*, int) {}\n" in given_texts
    assert not any("text" in each for each in given_texts)


@ANY
@given(words=HOSTILE)
def test_hostile_names_and_code(words: str) -> None:
    text = program(1, 10) + f"// {words}".replace("\n", " ") + "\n" + program(2, 10)
    sources = [Source(f"{i}", words + str(i), lambda t=t: {words: t.encode(errors="replace")})  # type: ignore[misc]
               for i, t in enumerate((text, text + ";"))]  # fmt: skip
    found = compare(sources, [])
    assert len(found.pairs) == 1
    page = Reader(similarity_page.page(found, words))
    assert not any(map(ACTS.search, page.pieces))
    assert json.loads(similarity_page.encode(found))["pairs"][0]["pieces"][0]["left"]["first"] == 2
    console = Console(width=60, record=True, file=open("/dev/null", "w"), markup=False)  # noqa: PTH123, SIM115
    similarity_page.show(console, found)


def handed_in(home: Path) -> Path:
    folder = home / "class"
    for name, text in (("ada", program(1)), ("bob", disguised(program(1))), ("eve", program(2)), ("lin", "")):
        (folder / name).mkdir(parents=True)
        if text:
            (folder / name / "toy.cu").write_text(text, encoding="utf-8")
    return folder


def test_the_command(in_project: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, page = handed_in(tmp_path), tmp_path / "page.html"
    status, out, _ = run(capsys, "similarity", "toy", folder, "--html", page)
    assert status == 0
    assert "3 submissions compared, 1 similar pair" in out
    assert "could not be read: lin" in out.replace("\n", " ")
    assert "This is no grade" in out
    assert "points" not in out
    assert max(map(len, out.splitlines())) <= 80
    shown = Reader(page.read_bytes())
    assert "1. ada and bob" in shown.text
    assert "eve" not in shown.text


def test_the_command_takes_the_latest_of_an_export(
    in_project: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    export = {
        "ada_11_100_toy.cu": program(1), "ada_11_200_toy-1.cu": program(2), "eve_13_102_toy.cu": program(2) + ";",
        "bob_12_101_toy.cu": disguised(program(1)),
    }  # fmt: skip
    for name, text in export.items():
        (folder / name).write_text(text, encoding="utf-8")
    _, out, _ = run(capsys, "similarity", "toy", folder, "--json", "-")
    assert [(pair["left"], pair["right"]) for pair in json.loads(out)["pairs"]] == [("ada (11)", "eve (13)")]


def test_the_command_as_json_and_with_more_that_was_given(
    in_project: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, lecture = handed_in(tmp_path), tmp_path / "lecture.cu"
    status, out, _ = run(capsys, "similarity", "toy", folder, "--json", "-", "--threshold", "90")
    document = json.loads(out)
    assert (status, document["schema"]) == (0, "warpgrade/similarity/1")
    pair = document["pairs"][0]
    assert (pair["left"], pair["right"]) == ("ada", "bob")
    assert pair["pieces"][0]["left"]["file"] == "toy.cu"
    lecture.write_text(program(1), encoding="utf-8")
    _, out, _ = run(capsys, "similarity", "toy", folder, "--json", "-", "--given", lecture)
    assert json.loads(out)["pairs"] == []
    (tmp_path / "empty").mkdir()
    status, _, err = run(capsys, "similarity", "toy", tmp_path / "empty")
    assert status == 2
    assert "is empty" in err


def test_a_pair_says_how_many_it_stands_for() -> None:
    group = [source(f"s{i}", program(1)) for i in range(4)]
    found = compare([*group, source("other", program(1) + program(7, 10))], [])
    console = Console(file=io.StringIO(), width=120)
    similarity_page.show(console, found)
    assert isinstance(console.file, io.StringIO)
    assert "s0 and 3 with the same own code" in console.file.getvalue()
    assert "s1 and" not in console.file.getvalue()
    assert "s0 and 3 with the same own code" in similarity_page.page(found, "similar").decode()


def test_who_cannot_be_read_stands_on_a_line_of_their_own() -> None:
    found = Similar(unread=[f"s{i}: a.cu, b.cu" for i in range(10)])
    console = Console(file=io.StringIO(), width=80)
    similarity_page.show(console, found)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert "could not be read: s1: a.cu, b.cu" in lines
    assert lines[-1] == "could not be read: 2 more"
