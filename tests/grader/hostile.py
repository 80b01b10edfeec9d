"""Words of strangers that act on terminals and build services, and a result that is full of them."""

import json
import re
from typing import Any

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from samples import GRADED, RACE

from warpgrade.findings import diagnosis, sources
from warpgrade.findings.diagnosis import Place, Related
from warpgrade.grading import review, score
from warpgrade.grading.judge import Case
from warpgrade.grading.result import Result, SubmissionInfo
from warpgrade.lab.labs import Lab
from warpgrade.machine import text

# A terminal or a build service acts on these; nobody sees those.
ACTS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
    r"|##\[|##vso\[|^\s*::",
    re.MULTILINE,
)
PIECES = [
    "::error file=x::y", "::set-output name=p::100", "##[error]x", "##vso[task.complete]", "\r", "\n", "\x1b[2J",
    "\x1b]0;t\x07", "\x1b]8;;http://x\x1b\\", "\x1b", "\x9b31m", "\u202e", "\u2066", "\u200b", "\ufeff", "\x00",
    "[red]", "[/red]", "[link=http://x]", ":smile:", "{memory}", "%0A", "\ud800", "\U000e0041", " ", "\t", "matmul.cu",
    "/submission/", "../", "<", ">", "::", "#", "##", "x" * 70, "\u2028", "\x85", "é", "😀", "|", "`", "$(id)",
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=8).map("".join)
ANY = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

OWN = sources.submission_sources(
    {"my.cu": b"one\n\x1b[2Jtwo\n::error::three\n"}, re.compile("^/submission/"), lambda path: False
)


def one(words: str, line: int) -> diagnosis.Diagnostic:
    """A finding each of whose texts is hostile, as it comes from a device server."""
    place = Place(file=words, line=line)
    return msgspec.structs.replace(
        RACE, rule=words, title=words, help=words, message=words, kernel=words, place=place,
        related=[Related(role=words, place=Place(file="/submission/my.cu", line=2))],
    )  # fmt: skip


def hostile_result(words: str, lab: Lab, line: int) -> Result:
    """A result into which every foreign text came through the gate that it passes in a real grade."""
    verdict = {
        "type": "case", "name": "adds", "status": "fail", "message": words, "review": [words],
        "checks": [{"name": words, "words": words, "unit": words, "now": 1, "relation": "at most", "limit": 0,
                    "outcome": "fail"}],
        "launches": [{words: words, "lines": [{"file": words, "line": 1}], "name": words}],
    }  # fmt: skip
    # Halves of surrogate pairs become something else, as with the judge's library.
    raw = json.dumps(verdict, ensure_ascii=False).encode(errors="replace")
    case = msgspec.json.decode(raw, type=Case)
    found = diagnosis.locate([one(words, line), one("/submission/my.cu", line)], OWN, lambda codes: {})
    scored = score.score_tests(lab, {"adds": case}, "vgpu", public_only=True)[0]
    return msgspec.structs.replace(
        GRADED,
        submission=SubmissionInfo(name=text.printable_name(words), ignored=[text.printable_name(words)]),
        tests=[*GRADED.tests, msgspec.structs.replace(scored, diagnostics=found)],
        review=review.list_notes([words, *case.review]),
    )


def strings(tree: Any, key: str = "") -> list[str]:
    if isinstance(tree, dict):
        inner = [each for name, value in tree.items() for each in strings(value, key)]
        if key:
            return [*(value for name, value in tree.items() if name == key and isinstance(value, str)), *inner]
        return [*tree, *inner]
    if isinstance(tree, list):
        return [each for value in tree for each in strings(value, key)]
    return [tree] if isinstance(tree, str) and not key else []
