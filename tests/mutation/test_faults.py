"""The faults that are planted: which ones, where not, and each in one place."""

import subprocess
from collections import Counter
from pathlib import Path

import fault
import plant_cxx
import plant_python
import pytest
import run
from fault import Fault
from tree import ROOT, Outcome, Part, read_parts


def cxx(source: str) -> list[str]:
    return [one.change for one in plant_cxx.find_faults("a.cpp", source.encode())]


def python(source: str) -> list[str]:
    return [one.change for one in plant_python.find_faults("a.py", source.encode())]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("bool f(int a) { return a == b; }", ["`==` → `!=`"]),
        ("bool f(int a) { return a < b; }", ["`<` → `<=`", "`<` → `>=`"]),
        ("int f() { return a + b; }", ["`+` → `-`"]),
        ("bool f() { return a && !b; }", ["`&&` → `||`", "`!` → ``"]),
        ("int f() { return a & ~b; }", ["`&` → `|`", "`~` → ``"]),
        ("int f() { return a << b; }", ["`<<` → `>>`"]),
        ("int n = 8;", ["`8` → `7`", "`8` → `9`"]),
        ("int n = 0;", ["`0` → `1`"]),
        ("auto n = 0xffu;", ["`0xffu` → `0x7fu`", "`0xffu` → `0xfeu`"]),
        ("auto n = 1'000ull;", ["`1'000ull` → `1001ull`", "`1'000ull` → `999ull`"]),
        ("double n = 0.5;", ["`0.5` → `(2 * 0.5)`"]),
        ("bool b = true;", ["`true` → `false`"]),
        ("auto n = std::min(a, b);", ["`min` → `max`"]),
        ("auto n = std::max<int>(a, b);", ["`max` → `min`"]),
        ("void f() { if (a && b) g(); }",
         ["`!(a && b)`", "`&&` → `||`", "drop `g();`"]),
        ("void f() { if (a) return; g(); }", ["`a` → `!(a)`", "drop `return;`", "drop `g();`"]),
        ("void f() { if (const int n = g(); n) return; }", ["`n` → `!(n)`", "drop `return;`"]),
        ("void f() { for (;;) { break; } }", ["drop `break;`"]),
        ("void f() { x = y; }", ["drop `x = y;`"]),
        ("void f() { a->b.c(d); }", ["drop `a->b.c(d);`"]),
        ("void f() { switch (a) { case b: c(); break; } }", ["drop `c();`", "drop `break;`"]),
        ("auto f = [&](int a) { g(a); };", ["drop `g(a);`"]),
    ],
)  # fmt: skip
def test_faults_of_cxx(source: str, expected: list[str]) -> None:
    assert sorted(one for one in cxx(source) if not one.startswith("`a && b`")) == sorted(
        one for one in expected if one != "`!(a && b)`"
    )


@pytest.mark.parametrize(
    "source",
    [
        "// a == b\n",
        "/* a == b && 1 */",
        '#define TWO(a) (a + 2)\n#include "a/b.hpp"\n#if A == 1 && \\\n B == 2\n#endif\n',
        'auto a = "b == 1 && !c // \\" + 3";',
        "auto a = ' ', b = '\\'', c = '1';",
        'auto a = R"x(1 == "2" && )" 3)x";',
        "template <class T, class... More>\nstd::map<int, std::vector<T>> f(T&& a, const T& b, T* c);",
        "struct A { bool operator==(const A& other) const; A(A&&) = default; virtual void f() = 0; };",
        "struct A { virtual ~A(); A& operator++(); bool operator!() const; };\nA::~A() = default;",
        "static_assert(sizeof(int) == 4 && true);",
        'struct [[deprecated("1 + 1")]] A;',
        "auto a = std::numeric_limits<int>::max();",
        "namespace a { enum class B { c, d }; using E = F; struct G { int h; A i(j); }; }",
        "void f() { const A b(c); A d{c}; auto e = c; std::vector<A> g(c); A& h = c; A* i = c; }",
        "int f() { return a; }",
    ],
)
def test_no_faults_in_cxx(source: str) -> None:
    assert cxx(source) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b == c", ["`==` → `!=`"]),
        ("a = b is not c", ["`is not` → `is`"]),
        ("a = b in c", ["`in` → `not in`"]),
        ("a = b and not c", ["`and` → `or`", "`not` → ``"]),
        ("a = -b // (c)", ["`-` → ``", "`//` → `*`"]),
        ("a = (b  # c == d\n     == e)", ["`==` → `!=`"]),
        ("a += b", ["drop `a += b`", "`+=` → `-=`"]),
        ("a = 'x', 2", ["`2` → `1`", "`2` → `3`"]),
        ("a = True", ["`True` → `False`"]),
        ("a = min(b)", ["`min` → `max`"]),
        ("def f(a: int | None = None) -> B | C:\n    if a:\n        return b\n    return c\n",
         ["`a` → `(not (a))`", "drop `return b`"]),
        ("def f():\n    while a:\n        break\n", ["`a` → `(not (a))`", "drop `break`"]),
        ("def f():\n    raise A\n", ["drop `raise A`"]),
        ("def f():\n    a.b = c\n    d(e)\n", ["drop `a.b = c`", "drop `d(e)`"]),
        ("a = [b for b in c if b]", ["`b` → `(not (b))`"]),
    ],
)  # fmt: skip
def test_faults_of_python(source: str, expected: list[str]) -> None:
    assert sorted(python(source)) == sorted(expected)


@pytest.mark.parametrize(
    "source",
    [
        '"""a == 1"""\n',
        "# a == 1\n",
        "a = 'b == 1', f'c', r'2 + 3'\n",
        "def f(*, a: int | None = None) -> A | B: ...\n",
        "class A:\n    '''1 + 1'''\n    b: int | None\n",
        "import a\nfrom b import c\n",
    ],
)
def test_no_faults_in_python(source: str) -> None:
    assert python(source) == []


def test_letters_of_many_bytes_do_not_shift_a_place() -> None:
    source = 'a = "“×”"; b = c == d  # ≠\n'.encode()
    [one] = plant_python.find_faults("a.py", source)
    assert one.plant(source).decode() == 'a = "“×”"; b = c != d  # ≠\n'
    source = 'auto a = "“×”"; bool b = c == d;  // ≠\n'.encode()
    [one] = plant_cxx.find_faults("a.cpp", source)
    assert one.plant(source).decode() == 'auto a = "“×”"; bool b = c != d;  // ≠\n'


@pytest.fixture(scope="module")
def everything() -> list[tuple[Part, list[Fault]]]:
    return [(part, run.find_faults(part, ROOT)) for part in read_parts()]


def test_every_part_has_faults_of_many_kinds(everything: list[tuple[Part, list[Fault]]]) -> None:
    for part, faults in everything:
        kinds = {one.kind for one in faults}
        assert kinds >= {"operator", "constant", "dropped statement", "negated condition"}, part.name


def test_each_fault_differs_in_one_place_and_has_a_name_of_its_own(everything: list[tuple[Part, list[Fault]]]) -> None:
    for _, faults in everything:
        sources = {one.path: (ROOT / one.path).read_bytes() for one in faults}
        assert len({one.key for one in faults}) == len(faults)
        for one in faults:
            source = sources[one.path]
            planted = one.plant(source)
            assert planted != source
            end = one.offset + len(one.original.encode())
            assert planted[: one.offset] == source[: one.offset]
            assert planted[one.offset + len(one.replacement.encode()) :] == source[end:]
            assert one.text in source.decode().splitlines()[one.line - 1]


def test_a_fault_keeps_its_name_when_lines_move() -> None:
    source = b"bool f() { return a == b; }\n"
    [one] = plant_cxx.find_faults("a.cpp", source)
    [moved] = plant_cxx.find_faults("a.cpp", b"int g();\n\n" + source)
    assert one.key == moved.key
    assert one.rank("seed") == moved.rank("seed")


def test_a_source_that_has_changed_is_left_alone() -> None:
    [one] = plant_cxx.find_faults("a.cpp", b"bool f() { return a == b; }\n")
    with pytest.raises(ValueError, match="has changed"):
        one.plant(b"bool f() { return a != b; }\n")


def test_a_sample_is_the_same_for_a_seed(everything: list[tuple[Part, list[Fault]]]) -> None:
    for _, faults in everything:
        sample = run.choose(faults, 10, "a day")
        assert sample == run.choose(list(reversed(faults)), 10, "a day")
        assert sample != run.choose(faults, 10, "another day")
        assert len({(one.path, one.offset) for one in sample}) == 10


def test_numbers_change_in_their_own_form() -> None:
    assert fault.change_number("010") == ["7", "9"]
    assert fault.change_number("1e-3") == ["(2 * 1e-3)"]
    assert fault.change_number("0.0f") == ["1.0f"]
    assert fault.change_number("1_000") == ["999", "1001"]


def test_scores_leave_out_what_does_not_compile_and_what_is_equivalent() -> None:
    count = Counter({"killed": 3, "survived": 1, "equivalent": 5, "does not compile": 7})
    assert run.write_scores({"exec": count}).splitlines()[-1] == "| all | 3 | 1 | 5 | 75 % |"
    assert run.percent(0, 0) == 100


def test_outcomes_are_kept_for_a_call_that_goes_on_and_for_no_other(tmp_path: Path) -> None:
    part = read_parts()[0]
    [one] = plant_cxx.find_faults("a.cpp", b"bool f() { return a == b; }\n")
    run.Outcomes(tmp_path / "rows", resume=False).add(part, one, Outcome("killed", "a test", 1.0))
    assert run.Outcomes(tmp_path / "rows", resume=True).rows[one.key]["status"] == "killed"
    assert run.Outcomes(tmp_path / "rows", resume=False).rows == {}


def test_named_equivalents_are_faults_that_can_be_planted(everything: list[tuple[Part, list[Fault]]]) -> None:
    for row in run.read_equivalent():
        here = [one for _, faults in everything for one in faults if row.names(one)]
        assert here, f"{row.file}: `{row.line}` or its fault is no more: name it again or take it out"
        assert len(here) == 1 or not row.change


def test_changed_lines_are_those_that_git_says_and_all_of_new_files(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    git("init", "--quiet")
    (tmp_path / "a.cpp").write_text("1\n2\n3\n4\n5\n6\n")
    git("add", "a.cpp")
    git("commit", "--quiet", "--message", "first")
    (tmp_path / "a.cpp").write_text("1\n2.0\n2.5\n3\n5\nsix\n")
    (tmp_path / "b.cpp").write_text("1\n2\n")
    assert run.changed_lines("HEAD", tmp_path) == {"a.cpp": {2, 3, 6}, "b.cpp": {1, 2, 3}}


def test_slow_tests_run_last_and_once() -> None:
    part = Part("a", "a", tests=("test-a", "test-b"), later=("test-b: one, two", "test-b: [three]"))
    first, second, slow = (command[4:] for command in part.commands())
    assert first == []
    assert second == [r"~one\, two", r"~\[three\]"]
    assert slow == [r"one\, two,\[three\]"]


def test_of_a_program_the_tests_with_a_tag_may_run() -> None:
    part = Part("a", "a", tests=("test-a", "test-b [fast]"), later=("test-b: one",))
    first, second, slow = ([command[0], *command[4:]] for command in part.commands())
    assert first == ["build/release/bin/test-a"]
    assert second == ["build/release/bin/test-b", "[fast]", "~one"]
    assert slow == ["build/release/bin/test-b", "one"]


def test_parts_are_folders_with_tests() -> None:
    for part in read_parts():
        assert part.sources(ROOT), part.name
        assert part.commands(), part.name
        assert all((ROOT / name).exists() for name in part.pytest)
        if part.pytest:
            assert all((ROOT / name).exists() for name in part.later)
            continue
        cases = "".join(path.read_text() for path in Path(ROOT / "tests").glob("*/*_test.cpp"))
        assert all(f'"{name.split(": ", 1)[1]}"' in cases for name in part.later)
