"""Makes a lab's prelab that knows nothing but what `check --only prelab` tells: a table of constants.

    PYTHONPATH=grader:tests/grader python tests/grader/lab/constant_table.py LAB > tests/grader/lab/tables/LAB.cpp

It answers all questions with 1 or a number that a message has told, and asks again until the messages tell no more.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from warpgrade.grading import grade
from warpgrade.grading.result import Result
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import find_layout

_ROUNDS = 20
_PRELAB = "prelab.cpp"
_DEFINITION = re.compile(r"^(?P<type>[\w ]+) (?P<name>\w+)\((?P<parameters>[^)]*)\) *\{", re.MULTILINE)
_ASKED = re.compile(r"in (\w+)\(([^()]*)\)")
_TOLD = re.compile(r"your answer: (\S+), expected (?:at \w+ )?(\S+)|: predicted (\S+?),? (.*)")
_MEASURED = re.compile(r"measured (\S+)|contract describes it takes (\S+),")
_FACTOR = re.compile(r"too (small|large)(?: by a factor of (\S+))?")

Table = dict[str, dict[tuple[str, ...], float]]


def source(lab: Lab, table: Table) -> str:
    """Return the starter's prelab with each function's body replaced by a table; functions of arrays stay."""
    text = (lab.starter_folder / _PRELAB).read_text(encoding="utf-8")
    parts, at = [], 0
    for match in _DEFINITION.finditer(text):
        names = [one.split()[-1] for one in match["parameters"].split(",") if one.strip()]
        end = text.index("\n}\n", match.end()) + 3 if "}" not in text[match.end() :].split("\n")[0] else 0
        end = end or text.index("}\n", match.end()) + 2
        if not {"*", "void"}.isdisjoint({*match["parameters"], match["type"]}) or match["type"].startswith("static"):
            continue
        rows = [
            f"    if ({' && '.join(f'{n} == {v}' for n, v in zip(names, values, strict=True))}) return {answer:.17g};"
            for values, answer in table.get(match["name"], {}).items()
            if len(values) == len(names)
        ]
        body = "\n".join([*rows, "    return 1;"])
        parts += [text[at : match.start()], f"{match['type']} {match['name']}({match['parameters']}) {{\n{body}\n}}\n"]
        at = end
    return "".join([*parts, text[at:]])


def learn(table: Table, result: Result) -> bool:
    """Put what the messages tell into the table; return whether that is anything new."""
    before = {name: dict(rows) for name, rows in table.items()}
    for test in result.tests:
        told: tuple[float, str] | None = None
        for line in test.message.split("\n"):
            if match := _TOLD.search(line):
                told = _number(match[1] or match[3], match[2] or "", match[4] or "")
            elif (asked := _ASKED.search(line)) and told is not None:
                values = tuple(one.split("= ")[-1].replace(",", "") for one in asked[2].split(", "))
                table.setdefault(asked[1], {})[values] = told[0]
                told = None
    return table != before


def _number(answered: str, expected: str, rest: str) -> tuple[float, str] | None:
    def read(text: str) -> float:
        return {"true": 1.0, "false": 0.0}.get(text) if text in ("true", "false") else float(text.replace(",", ""))  # type: ignore[return-value]

    try:
        if expected:
            return read(expected), "expected"
        if measured := _MEASURED.search(rest):
            return read(measured[1] or measured[2]), "measured"
        if (off := _FACTOR.search(rest)) and off[2]:
            return (read(answered) * read(off[2]) if off[1] == "small" else read(answered) / read(off[2])), "factor"
    except ValueError:
        pass
    return None


def checked(lab: Lab, text: str, *, public: bool) -> Result:
    """Grade the starter with this prelab; only the tests of prelabs."""
    with tempfile.TemporaryDirectory(prefix="warpgrade-table-") as folder:
        for path in lab.starter_folder.glob("*"):
            Path(folder, path.name).write_bytes(path.read_bytes())
        Path(folder, _PRELAB).write_text(text, encoding="utf-8")
        options = grade.Options(seed=1, threads=1, public_only=public, only=("prelab",))
        return grade.grade(find_layout(), lab, intake.read(lab, Path(folder)), options)


def make(lab: Lab) -> str:
    """Return the prelab that knows all that can be read off."""
    table: Table = {}
    for _ in range(_ROUNDS):
        if not learn(table, checked(lab, source(lab, table), public=True)):
            break
    return source(lab, table)


if __name__ == "__main__":
    sys.stdout.write(make(labs.find(find_layout(), sys.argv[1])))
