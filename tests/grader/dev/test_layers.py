"""Arrows between folders point one way: no import and no include goes against docs/layers.toml."""

import graphlib
import re
from pathlib import Path

import golden_files
import pytest

from warpgrade.dev import layers
from warpgrade.dev.layers import Code, Part
from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
ORDER = layers.read_order(ROOT)


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_no_arrow_points_up(language: str) -> None:
    part: Part = getattr(ORDER, language)
    code: Code = getattr(layers, f"read_{language}")(ROOT, part)
    assert code.arrows, "nothing was read"
    told = layers.mistakes(part, code)
    assert not told, "\n".join(told)


def test_the_drawing_is_that_of_the_code() -> None:
    golden_files.check(ROOT / layers.PAGE, layers.page(ROOT))


def test_tests_lie_as_what_they_test() -> None:
    home = ROOT / "tests" / "grader"
    folders = {path.parent.relative_to(home).as_posix() for path in home.rglob("test_*.py")}
    assert folders <= set(ORDER.python.purposes)


def test_what_the_versions_of_catch2_call_differently_comes_from_one_header() -> None:
    files = [path for folder in ("grader", "labs", "tests") for path in (ROOT / folder).rglob("*.[ch]pp")]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    using = {name for name, text in texts.items() if re.search(r"\bApprox\(", text)}
    assert [name for name in using if '#include "support/approx.hpp"' not in texts[name]] == []
    moved = re.compile(r"\bCatch::(StartsWith|EndsWith|Equals|Matches|VectorContains|Contains)\b")  # to Catch::Matchers
    assert [name for name, text in texts.items() if moved.search(text)] == ["tests/support/contains.hpp"]
    include = re.compile(r"^\s*#include <catch2/", re.MULTILINE)
    assert {name for name, text in texts.items() if include.search(text)} == {
        "grader/judge/catch.hpp", "grader/judge/run_tests.cpp", "tests/support/approx.hpp",
        "tests/support/catch_main.cpp",
    }  # fmt: skip


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def part(*rows: dict[str, str], complete: bool = True) -> Part:
    return Part(title="a part", folder="code/pkg", complete=complete, layers=list(rows))


LOW_AND_HIGH = part({"low": "is used"}, {"high": "uses"})
PACKAGE = {
    "code/pkg/__main__.py": "from pkg.high import b\n",
    "code/pkg/low/__init__.py": "",
    "code/pkg/low/a.py": "from pkg import version\n",
    "code/pkg/high/b.py": "import os\nfrom pkg.low import a\nfrom . import c\n",
    "code/pkg/high/c.py": "",
}


def python(root: Path, declared: Part, **more: str) -> list[str]:
    files = {f"code/pkg/{name.replace('__', '/')}.py": text for name, text in more.items()}
    return layers.mistakes(declared, layers.read_python(written(root, {**PACKAGE, **files}), declared))


def test_what_keeps_the_order_is_not_named(tmp_path: Path) -> None:
    assert python(tmp_path, LOW_AND_HIGH) == []


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("from pkg.high.b import thing\n", 1),
        ("\nimport pkg.high.b\n", 2),
        ("from ..high import b\n", 1),
        ("from pkg import high\n", 1),
        ("def late():\n    from pkg.high import b\n", 2),
    ],
)
def test_an_import_of_a_higher_folder_is_named_with_its_place(tmp_path: Path, line: str, number: int) -> None:
    (told,) = python(tmp_path, LOW_AND_HIGH, low__wrong=line)
    assert told.startswith(f"code/pkg/low/wrong.py:{number}: low imports pkg.high")
    assert "puts high above it" in told
    assert "the cycle low → high → low" in told


def test_folders_of_one_layer_do_not_know_each_other(tmp_path: Path) -> None:
    (told,) = python(tmp_path, part({"low": "is used", "high": "uses"}))
    assert told.startswith("code/pkg/high/b.py:2: high imports pkg.low.a")
    assert "puts low beside it" in told
    assert "cycle" not in told


def test_folders_and_rows_belong_together(tmp_path: Path) -> None:
    assert [told.split(" ")[0] for told in python(tmp_path, part({"low": "is used"}))] == ["code/pkg/high"]
    assert python(tmp_path, part({"low": "is used"}, complete=False)) == []
    (told,) = python(tmp_path, part({"low": "is used"}, {"high": "uses"}, {"gone": "is not there"}))
    assert "names code/pkg/gone, which contains no code" in told


def test_a_folder_in_a_folder_has_a_layer_of_its_own(tmp_path: Path) -> None:
    nested = part({"low": "is used"}, {"high": "uses"}, {"high/plugins": "is found by high"})
    assert python(tmp_path, nested, high__plugins__one="from pkg.high import b\n") == []
    told = python(
        tmp_path, nested, high__plugins__one="from pkg.high import b\n", high__d="import pkg.high.plugins.one\n"
    )
    assert [each.split(": ")[0] for each in told] == ["code/pkg/high/d.py:1"]


def test_each_folder_of_plugins_is_in_the_layer_and_knows_no_other(tmp_path: Path) -> None:
    plugins = part({"low": "is used"}, {"high": "uses"}, {"high/*": "one plugin each"})
    fine = {"high__one__a": "from pkg.high import b\n", "high__two__a": "from pkg.low import a\n"}
    assert python(tmp_path, plugins, **fine) == []
    (told,) = python(tmp_path, plugins, **fine, high__two__b="import pkg.high.one.a\n")
    assert "high/two imports pkg.high.one.a, but docs/layers.toml puts high/one beside it." in told


def test_no_modules_import_each_other_in_a_circle() -> None:
    home = ROOT / ORDER.python.folder
    modules = {
        ".".join((home.name, *path.relative_to(home).with_suffix("").parts)): path for path in home.rglob("*.py")
    }
    graph = {
        module: {
            used
            for _, name in layers.imports(path, home)
            if (used := name if name in modules else name.rpartition(".")[0]) in modules and used != module
        }
        for module, path in modules.items()
    }
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError with the circle


def test_includes_are_arrows_too(tmp_path: Path) -> None:
    files = {
        "code/pkg/low/a.hpp": '#include <high/b.hpp>\n#include "vector_that_is_not_ours.hpp"\n',
        "code/pkg/low/rows.def": "",
        "code/pkg/high/b.hpp": '#include "low/a.hpp"\n#include "low/rows.def"\n#include "c.hpp"\n',
        "code/pkg/high/c.hpp": "",
        "code/pkg/high/README.md": "",
    }
    code = layers.read_cpp(written(tmp_path, files), LOW_AND_HIGH)
    assert code.folders == {"low", "high"}
    assert code.uses == {"low": set(), "high": {"low"}}
    assert layers.mistakes(LOW_AND_HIGH, code) == []
    code = layers.read_cpp(
        written(tmp_path, {"code/pkg/low/wrong.cpp": '\n  # include "../high/b.hpp"\n'}), LOW_AND_HIGH
    )
    (told,) = layers.mistakes(LOW_AND_HIGH, code)
    assert told.startswith("code/pkg/low/wrong.cpp:2: low includes ../high/b.hpp")
