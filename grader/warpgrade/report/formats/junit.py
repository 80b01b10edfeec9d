"""The result as JUnit's XML, which most build services read: GitLab, CodeGrade, Jenkins.

A test that the grader could not judge is an `error` there, one that waits for a device is `skipped`; a test with a
part of its points is passed, and says so.
"""

import re
from xml.sax.saxutils import escape, quoteattr

from warpgrade.machine.text import number, one_line
from warpgrade.report import export
from warpgrade.report.format import Report, file_format

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def encode(report: Report) -> bytes:
    """Return the file: one suite, named for the lab."""
    result = report.result
    if result is None:
        return b""
    rows = export.rows(result)
    suite = _attributes(
        name=result.lab.title,
        tests=str(len(rows)),
        failures=str(sum(row.outcome == "fail" for row in rows)),
        errors=str(sum(row.outcome == "error" for row in rows)),
        skipped=str(sum(row.outcome == "pending" for row in rows)),
        time=f"{result.seconds.judge:.3f}",
    )
    told = "\n\n".join([export.headline(result), *export.notes(result), *export.mistakes(report.findings)])
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            "<testsuites>",
            f" <testsuite{suite}>",
            *(_case(result.lab.name, row) for row in rows),
            f"  <system-out>{_text(told)}</system-out>",
            " </testsuite>",
            "</testsuites>\n",
        ]
    ).encode()


def _case(lab: str, row: export.Row) -> str:
    case = _attributes(classname=f"warpgrade.{lab}", name=row.name, time=f"{row.seconds:.3f}")
    head = f"{number(row.points, 2)} of {number(row.max_points)} points" if row.decided else "not judged"
    words = _text(f"{head}\n{row.text}" if row.text else head)
    inner = {
        "fail": f"<failure{_attributes(message=_first(row), type='fail')}>{words}</failure>",
        "error": f"<error{_attributes(message=_first(row), type='error')}>{words}</error>",
        "pending": "<skipped/>",
    }.get(row.outcome, f"<system-out>{words}</system-out>")
    return f"  <testcase{case}>{inner}</testcase>"


def _first(row: export.Row) -> str:
    return one_line(row.text.partition("\n")[0], 200) or row.outcome


def _attributes(**values: str) -> str:
    # Line ends would be lost in an attribute: names and messages are one line each.
    return "".join(f" {name}={quoteattr(_NOT_XML.sub('', value))}" for name, value in values.items())


def _text(words: str) -> str:
    return escape(_NOT_XML.sub("", words))


FORMAT = file_format("result", "--junit", "Write the tests as JUnit's XML; - is stdout.", encode)
