"""Classes that tests of gradebook, feedback and summary share."""

import msgspec

from warpgrade.cohort.row import Decision, Lost, Row

ADA = Row(
    student="12345", name="Ada Lovelace", lab="matmul", state="graded", points=58.3, max_points=110, earned=58.3,
    source="lovelaceada_12345_678910_matmul.cu", submitted="2026-11-20T10:00:00+00:00", attempts=2,
    result="results/12345.json", digest="ab12",
    lost=[
        Lost("each element is loaded once per tile", 10, "16777216 sectors were loaded from global memory"),
        Lost("keeps NaN and infinity", 10, "C[5] is 0", hidden=True),
    ],
    metrics={"speed on 256 × 256: speedup": 2.66},
)  # fmt: skip
GRACE = Row(
    student="12346", name="Grace Hopper", lab="matmul", state="graded", points=88, max_points=110, earned=110,
    late="2 days late: −20 %", source="hoppergrace_LATE_12346_678911_matmul.cu", attempts=1,
    submitted="2026-11-22T10:00:00+00:00", result="results/12346.json", digest="ab13",
    metrics={"speed on 256 × 256: speedup": 4.5},
)  # fmt: skip
EVE = Row(
    student="=cmd|' /C calc'!A0", name="</title><script>alert(1)</script>", lab="matmul", state="rejected", points=0,
    max_points=110, problem="\x1b[31mmatmul.cu does not compile", source="../../etc/passwd", attempts=1,
    result="results/eve.json",
)  # fmt: skip
KAI = Row(
    student="+4915112345", name="-Kai \u202egnp.exe", lab="matmul", state="graded", points=70, max_points=110,
    earned=0, source="kai_12348_678913_matmul.zip", attempts=1, result="results/kai.json",
    decision=Decision(70, "@SUM(1+1) the grader's machine was\nfull", "Prof. \"X\", <b>", "2026-11-23T09:00:00+00:00"),
    lost=[Lost("each element is loaded once per tile", 10, "16777216 sectors were loaded from global memory")],
    review=["its result was not computed by the device (in 2 tests)"],
)  # fmt: skip
BOB = Row("007", "Bob", "matmul", "missing", 0, 110)
JOE = Row("008", "Joe", "matmul", "error", None, 110, problem="the device server did not start", attempts=1)
LIN = Row("009", "Lin", "matmul", "refused", 0, 110, problem="lin.zip contains a link", source="lin.zip", attempts=1)
ZOE = Row("010", "Zoë", "matmul", "waiting", None, 110, source="zoe", attempts=1)
CLASS = [ADA, GRACE, EVE, KAI, BOB, JOE, LIN, ZOE]


def many(count: int) -> list[Row]:
    """A class of that many, with points from none to all."""
    return [
        msgspec.structs.replace(
            ADA, student=f"s{i:05}", name=f"Student {i}", points=float(i * 41 % 111), earned=float(i * 41 % 111)
        )
        for i in range(count)
    ]
