"""Makes a lab's prelab that knows nothing but what `check --only prelab` tells: a table of constants.

    PYTHONPATH=grader python tests/grader/constant_table.py LAB

It answers all questions with 1 or a number that a message has told, and asks again until the messages tell no more.
Prints the lab's rows of told_answers.tsv: lab, function, arguments, answer.
"""

import contextlib
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
_DEFINITION = re.compile(
    r"^(?P<type>\w[\w ]*) (?P<name>\w+)\((?P<parameters>[^)]*)\) *\{\n(?:.*\n)*?\}\n", re.MULTILINE
)
_ASKED = re.compile(r"in (\w+)\(([^()]*)\)")
_TOLD = re.compile(r"your answer: \S+, expected (?P<right>\S+)|: predicted (?P<predicted>\S+?)[,;]? (?P<rest>.*)")
_MEASURED = re.compile(r"measured (\S+)|contract describes it takes (\S+),")
_FACTOR = re.compile(r"too (small|large)(?: by a factor of (\S+))?")

Table = dict[str, dict[tuple[str, ...], float]]
TOLD = Path(__file__).parent / "lab" / "told_answers.tsv"


def stored_tables() -> dict[str, Table]:
    """Return the tables of all labs, by their names."""
    tables: dict[str, Table] = {}
    for line in TOLD.read_text(encoding="utf-8").splitlines():
        lab, function, arguments, answer = line.split("\t")
        rows = tables.setdefault(lab, {}).setdefault(function, {})
        rows[tuple(arguments.split())] = float(answer)
    return tables


def source(lab: Lab, table: Table) -> str:
    """Return the starter's prelab with a table in place of each function's body; functions of arrays stay."""
    text = (lab.starter_folder / _PRELAB).read_text(encoding="utf-8")

    def with_table(match: re.Match[str]) -> str:
        if "*" in match["parameters"] or match["type"] == "void":
            return match[0]
        names = [one.split()[-1] for one in match["parameters"].split(",") if one.strip()]
        rows = []
        for values, answer in table.get(match["name"], {}).items():
            if len(values) == len(names):
                asked = " && ".join(f"{name} == {value}" for name, value in zip(names, values, strict=True))
                rows.append(f"    if ({asked or 1}) return {answer:.17g};")
        return "\n".join([f"{match['type']} {match['name']}({match['parameters']}) {{", *rows, "    return 1;\n}\n"])

    return _DEFINITION.sub(with_table, text)


def learn(table: Table, result: Result) -> bool:
    """Put what the messages tell into the table; return whether that is anything new."""
    before = {name: dict(rows) for name, rows in table.items()}
    for test in result.tests:
        told: float | None = None
        for line in test.message.split("\n"):
            if match := _TOLD.search(line):
                told = _told(match)
            elif (asked := _ASKED.search(line)) and told is not None:
                values = tuple(one.split("= ")[-1].replace(",", "") for one in asked[2].split(", "))
                table.setdefault(asked[1], {})[values] = told
                told = None
    return table != before


def _told(match: re.Match[str]) -> float | None:
    """Return the right answer, as far as the message tells it."""
    if match["right"]:
        return _read(match["right"])
    if measured := _MEASURED.search(match["rest"]):
        return _read(measured[1] or measured[2])
    answered, off = _read(match["predicted"]), _FACTOR.search(match["rest"])
    if answered is None or off is None:
        return None
    factor = float(off[2] or 1)
    return answered * factor if off[1] == "small" else answered / factor


def _read(text: str) -> float | None:
    with contextlib.suppress(ValueError):
        return float({"true": "1", "false": "0"}.get(text, text).rstrip(",;").replace(",", ""))
    return None


def checked(lab: Lab, text: str, *, public: bool) -> Result:
    """Grade the starter with this prelab; only the tests of prelabs."""
    with tempfile.TemporaryDirectory(prefix="warpgrade-table-") as folder:
        for path in lab.starter_folder.glob("*"):
            Path(folder, path.name).write_bytes(path.read_bytes())
        Path(folder, _PRELAB).write_text(text, encoding="utf-8")
        options = grade.Options(seed=1, threads=1, public_only=public, only=("prelab",))
        return grade.grade(find_layout(), lab, intake.read(lab, Path(folder)), options)


def make(lab: Lab) -> Table:
    """Return all that can be read off."""
    table: Table = {}
    for _ in range(_ROUNDS):
        if not learn(table, checked(lab, source(lab, table), public=True)):
            break
    return table


if __name__ == "__main__":
    for function, rows in make(labs.find(find_layout(), sys.argv[1])).items():
        for arguments, answer in rows.items():
            print(sys.argv[1], function, " ".join(arguments), f"{answer:.17g}", sep="\t")
