"""A finding that does not come in time is left out, and that is said; lines and verdicts stay."""

from pathlib import Path

import msgspec
from samples import GRADED, RACE

from warpgrade.findings.diagnosis import Place
from warpgrade.findings.sources import HostCode
from warpgrade.grading import own_lines
from warpgrade.machine.confined import Allowance
from warpgrade.machine.sandbox import Sandbox

FILES = {"my.cu": b"#include <x>\n__global__ void k() {\n    if (threadIdx.x) __syncthreads();\n}\n"}
HOST_CODE = HostCode(Path("/nothing"), Sandbox(Path("/nothing")))


def shown(allowance: Allowance) -> tuple[list[str], str]:
    found = msgspec.structs.replace(RACE, place=Place(file="/submission/my.cu", line=3), related=[])
    launch = {"name": "k()", "lines": [{"file": "/submission/my.cu", "line": 3}]}
    test = msgspec.structs.replace(
        GRADED.tests[0], diagnostics=[found], launches=[launch], message="/submission/my.cu:3 is wrong"
    )
    (after,), left_out = own_lines.show([test], {}, FILES, HOST_CODE, [], allowance, reads_sources=True)
    assert after.message == "my.cu:3 is wrong"
    assert after.launches[0].get("lines", [{"file": "my.cu", "line": 3}]) == [{"file": "my.cu", "line": 3}]
    assert (after.status, after.points) == (test.status, test.points)
    return [f"{one.rule} {one.place.text}" for one in after.diagnostics], left_out


def test_with_time_all_is_found() -> None:
    assert shown(Allowance()) == ([f"{RACE.rule} my.cu:3", "synccheck/conditional-barrier my.cu:3"], "")


def test_without_time_lines_are_shown_and_the_rest_is_said_to_be_left_out() -> None:
    found, left_out = shown(Allowance(seconds=0, where="limits.analysis_seconds in lab.toml"))
    assert found == [f"{RACE.rule} my.cu:3"]
    assert left_out == (
        "findings in the sources are left out, since to look for them takes more than 0 s of processor time "
        "(limits.analysis_seconds in lab.toml)"
    )


def test_where_not_even_lines_can_be_read_the_verdicts_stay() -> None:
    found, left_out = shown(Allowance(output_mib=0))
    assert found == []
    assert left_out.startswith("findings of the checks are left out")


HOST = {"my.cu": b"int main() {\n    for (;;) {}  \n\n}\n"}


def read(
    message: str, code: int | None, words: bytes = b"", files: dict[str, bytes] = HOST, **launch: object
) -> tuple[str, list[dict[str, object]]]:
    test = msgspec.structs.replace(
        GRADED.tests[0], diagnostics=[], launches=[launch] if launch else [], message=message
    )
    stops = {test.name: [code]} if code is not None else {"another": [17]}
    (after,) = own_lines.read([test], stops, files, [17], words, [], "lines")
    return after.message, after.launches


def test_where_host_code_hung_is_told_in_the_first_line_by_the_innermost_frame_of_the_students() -> None:
    words = b"0x0000000000000010\n/usr/include/x.h:9\n/a/b/submission/my.cu:2\n/a/b/submission/my.cu:1\n"
    told = "it did not finish: host code was at my.cu:2, `for (;;) {}`\nand more"
    assert read("it did not finish\nand more", 17, words)[0] == told
    assert read("it did not finish", 17, words.replace(b"my.cu:2", b"my.cu:3"))[0] == (
        "it did not finish: host code was at my.cu:3"
    )
    launch = {"my.cu": HOST["my.cu"].replace(b"for (;;) {}", b"k<<<1, 64>>>(n);")}
    assert read("it did not finish", 17, words, launch)[0] == (
        "it did not finish: the kernel did not end that was launched at my.cu:2, `k<<<1, 64>>>(n);`"
    )
    for nothing in (b"", b"0x10\n??:0\n", b"0x10\n/usr/include/x.h:9\n", b"0x11\n/a/submission/my.cu:2\n"):
        assert read("it did not finish", 17, nothing)[0] == "it did not finish"
    assert read("it did not finish", None, words)[0] == "it did not finish"


def test_a_function_that_calls_itself_without_end_is_told_though_it_launches_kernels() -> None:
    words = b"0xf\n/a/submission/my.cu:2\n0x1f\n/a/submission/my.cu:3\n"
    files = {"my.cu": b"void f() {\n    k<<<1, 64>>>();\n    f();\n}\n"}

    def told(depth: int) -> str:
        test = msgspec.structs.replace(GRADED.tests[0], diagnostics=[], launches=[], message="it did not finish")
        codes = [16] + [32] * depth
        (after,) = own_lines.read([test], {test.name: codes}, files, sorted({*codes}), words, [], "lines")
        return after.message

    assert told(20) == "it did not finish: the function calls itself again and again at my.cu:3, `f();`"
    assert told(3) == "it did not finish: the kernel did not end that was launched at my.cu:2, `k<<<1, 64>>>();`"


def test_launches_name_the_students_files_and_no_folder() -> None:
    lines = [
        {"file": "/scratch/x7/submission/my.cu", "line": 3, "counters": {}},
        {"file": "/usr/include/cuda/x.h", "line": 4},
        {"line": 5},
    ]
    _, (launch,) = read("", None, name="k()", lines=lines)
    shown = launch["lines"]
    assert isinstance(shown, list)
    assert shown[0] == {"file": "my.cu", "line": 3, "counters": {}}
    assert "/" not in shown[1]["file"]
    assert shown[2] == {"line": 5}
    assert launch["name"] == "k()"
    assert read("", None, name="k()")[1] == [{"name": "k()"}]
    assert read("see /scratch/x7/submission/my.cu:3", None)[0] == "see my.cu:3"
