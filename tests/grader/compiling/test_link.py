"""The link as the grader does it: what ends it is the submission's failure, but for a sandbox that does not start."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from elf_files import HONEST, Section, elf

from warpgrade.compiling import link
from warpgrade.compiling.failure import BuildFailure
from warpgrade.compiling.toolchain import Compilers
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import GraderError
from warpgrade.machine.sandbox import (
    COULD_NOT_START,
    CPU_LIMIT,
    FILE_SIZE_LIMIT,
    KILLED,
    OUT_OF_TIME,
    Done,
    Run,
    Sandbox,
)

NAMES = b"\0_Z3toyPfi\0hidden\0main\0"
COMPILERS = Compilers(Path("/usr/bin/nvcc"), "13", Path("/usr/bin/g++"), "12")
COMPILERS.__dict__["has_gold"] = False


@dataclass(frozen=True)
class Pretended(Sandbox):
    """Ends each command as it is told, and writes the program when it succeeds."""

    program: Path = Path("/none")
    done: Done = Done(0, b"")  # noqa: RUF009 - it is frozen
    runs: list[Run] = field(default_factory=list)

    def execute(self, profile: str, run: Run, most_bytes: int = 1 << 20, *, errors: bool = True) -> Done:
        assert profile == "compile"
        self.runs.append(run)
        if self.done.status == 0:
            (run.writable["/output"] / "worker").write_bytes(b"program")
        return self.done


def linked(lab: Lab, folder: Path, done: Done, raw: bytes = elf(HONEST), *, confined: bool = True) -> Pretended:
    sandbox = Pretended(done=done, confined=confined)
    (folder / "unit0.o").write_bytes(raw)
    (folder / "out").mkdir()
    linker = link.Linker(lab, COMPILERS, sandbox, ["toy.cu"])
    linker.link([folder / "unit0.o"], [folder / "libbinding.a", folder / "libother.a"], folder / "out")
    return sandbox


@pytest.mark.parametrize(
    ("first", "tried"),
    [
        (Done(0, b""), ["gold"]),
        (Done(0, b"warning: something"), ["gold", "usual"]),
        (Done(1, b"gold: internal error"), ["gold", "usual"]),
        (Done(KILLED, b""), ["gold", "usual"]),
    ],
)
def test_the_faster_linker_does_what_it_does_without_a_word(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: Done, tried: list[str]
) -> None:
    monkeypatch.setitem(COMPILERS.__dict__, "has_gold", True)
    done = [first, Done(0, b"")]
    seen: list[str] = []

    def execute(sandbox: Pretended, profile: str, run: Run) -> Done:
        program = run.writable["/output"] / "worker"
        assert not program.exists()
        seen.append("gold" if "-fuse-ld=gold" in run.command else "usual")
        program.write_text(seen[-1])
        return done.pop(0)

    monkeypatch.setattr(Pretended, "execute", execute)
    linked(lab, tmp_path, Done(0, b""))
    assert seen == tried
    assert (tmp_path / "out" / "worker").read_text() == tried[-1]


def test_the_linker_sees_its_files_alone_and_no_plugin(lab: Lab, tmp_path: Path) -> None:
    (run,) = linked(lab, tmp_path, Done(0, b"")).runs
    assert {"-fno-lto", "-fno-use-linker-plugin"} <= set(run.command)
    assert str(tmp_path) not in " ".join(run.command)
    assert set(run.read_only) == {"/objects/unit0.o", "/libraries/libbinding.a", "/libraries/libother.a"}
    assert run.limits.file_size_mib <= link.MOST_BYTES >> 20
    assert run.limits.seconds <= 60
    assert (tmp_path / "out" / "worker").is_file()


@pytest.mark.parametrize(
    ("status", "words", "message"),
    [
        (OUT_OF_TIME, "", "longer than 60 s to link"),
        (CPU_LIMIT, "", "longer than 60 s to link"),
        (FILE_SIZE_LIMIT, "", "larger than 64 MiB"),
        (1, "/usr/bin/ld: final link failed: File too large\n", "larger than 64 MiB"),
        (KILLED, "", "the system killed the linker"),
        (1, "collect2: fatal error: ld terminated by signal 9 [Killed]\n", "the system killed the linker"),
    ],
)
def test_what_the_linker_cannot_bear_is_a_failure_and_looked_at(
    lab: Lab, tmp_path: Path, status: int, words: str, message: str
) -> None:
    with pytest.raises(BuildFailure) as caught:
        linked(lab, tmp_path, Done(status, words.encode()))
    assert message in caught.value.problem.message
    assert caught.value.review
    assert not caught.value.unsupported


def test_a_sandbox_that_does_not_start_is_trouble_of_ours(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="linker does not run"):
        linked(lab, tmp_path, Done(COULD_NOT_START, b"bwrap: no"))


def test_an_object_is_checked_before_anything_reads_it(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(BuildFailure) as caught:
        linked(lab, tmp_path, Done(0, b""), elf([*HONEST, Section(b".gnu.lto_main", flags=0x80000000)]))
    assert caught.value.review == ["refused section .gnu.lto_main in unit0.o"]
    assert not (tmp_path / "out" / "worker").exists()


def test_variables_that_a_test_has_no_memory_for(lab: Lab, tmp_path: Path) -> None:
    huge = Section(b".bss.huge", 8, 3, size=5 << 30)
    with pytest.raises(BuildFailure, match="global variables take 5,121 MiB, but a test has 2,048 MiB"):
        linked(lab, tmp_path, Done(0, b""), elf([*HONEST, huge]))


def test_nor_do_they_without_a_sandbox(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "objects"
    folder.mkdir(parents=True)
    said = (
        f"{folder}/unit0.o: in function `f':\n"
        "/tmp/warpgrade-compile-x/submission/toy.cu:3: undefined reference to `gone'\n"
    )
    with pytest.raises(BuildFailure) as caught:
        linked(lab, folder, Done(1, said.encode()), confined=False)
    assert caught.value.problem.detail.split("\n") == [
        "unit0.o: in function `f':", "toy.cu:3: undefined reference to `gone'",
    ]  # fmt: skip


def test_messages_name_no_folder_of_ours(lab: Lab, tmp_path: Path) -> None:
    said = (
        "/usr/bin/ld: /objects/unit0.o: in function `_Z3toyPfi':\n/submission/toy.cu:3: undefined reference to `gone'\n"
        "/home/jane/hidden.cpp:4: undefined reference to `gone'\n::error::x\n"
        "collect2: error: ld returned 1 exit status\n"
    )
    with pytest.raises(BuildFailure) as caught:
        linked(lab, tmp_path, Done(1, said.encode()))
    assert caught.value.problem.message == "gone is declared and used, but never defined"
    assert caught.value.problem.detail.split("\n") == [
        "unit0.o: in function `_Z3toyPfi':", "toy.cu:3: undefined reference to `gone'",
        "<elsewhere>:4: undefined reference to `gone'", ": :error::x", "collect2: error: ld returned 1 exit status",
    ]  # fmt: skip
