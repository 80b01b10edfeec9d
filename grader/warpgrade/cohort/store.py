"""A class's folder: what was handed in, results, decisions, as plain JSON files. Each is whole or not there, so that
whatever ends the grader loses at most what it was doing.

    class.json                     the lab, the device and the seed that all of it was graded with
    people.json                    who is in the class, also those who handed in nothing
    parts/I-of-N.json              which shard of the class was taken in, and what in it nobody is named for
    submissions/STUDENT/*.json     one file a submission: whose, when, what it earned, and where its result is
    results/KEY.json               a whole result; submissions of the same content share it
    verdicts/                      each test's verdict, by content: what has not changed does not run again
    accepted/STUDENT.json          which file of a student a person has accepted as the one to grade
    decisions/STUDENT.json         what people decided instead, the last one counts
    marks/STUDENT.json             points of the rubric and comments at lines, in the order in which they were given
"""

import difflib
import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from warpgrade.cohort.names import file_name, identifier
from warpgrade.cohort.row import Decision, Lost, Mark, Row
from warpgrade.grading import result as results
from warpgrade.grading.result import Result
from warpgrade.machine import disk_space, files
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.text import listing, printable_name

T = TypeVar("T")

HEAD = "class.json"
_WIDTH = 300


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """class.json: what is the same for all of a class. place: the lab's folder, if it is not one of the course's."""

    lab: str
    seed: int
    device: str = "auto"
    seed_per_student: bool = False
    place: str = ""
    warpgrade: str = ""
    schema: Literal["warpgrade/class/1"] = "warpgrade/class/1"

    def seed_of(self, student: str) -> int:
        """Return the seed of a student's inputs."""
        if not self.seed_per_student:
            return self.seed
        return int.from_bytes(hashlib.sha256(f"{self.seed}:{student}".encode()).digest()[:6])


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One submission and what it earned.

    late: as the platform says, which may not say when it came. identifiers: all that the student is called. seen: when
    it was first taken in (ISO 8601). digest: of its files. key: its result's name; without one it waits. status: of its
    result, or `error` where the machine failed, which `problem` tells. notes, ignored: as a result has them of a
    submission; those of a class are shared by all who handed in the same, and have none. repairs: as a submission has
    them. answers: to the lab's short questions; "" of a file as it was handed out. prelab_points: what of the points
    the prelab's tests gave; None if that is not known.
    """

    student: str
    name: str
    source: str
    seen: str
    number: int = 1
    submitted: str = ""
    late: bool = False
    identifiers: list[str] = []
    digest: str = ""
    key: str = ""
    status: Literal["waiting", "graded", "rejected", "refused", "error"] = "waiting"
    points: float = 0.0
    max_points: float = 0.0
    prelab_points: float | None = None
    answers: str = ""
    problem: str = ""
    notes: list[str] = []
    repairs: list[str] = []
    ignored: list[str] = []
    lost: list[Lost] = []
    review: list[str] = []
    metrics: dict[str, float] = {}
    seconds: float = 0.0
    tries: int = 0

    @property
    def is_done(self) -> bool:
        """Whether there is a result that can become a grade."""
        return self.status in ("graded", "rejected", "refused")


class _Decided(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of decisions: about whom, and what."""

    student: str
    decisions: list[Decision]


class _Marked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of marks: whose work, and what people gave and wrote."""

    student: str
    marks: list[Mark]


class _Accepted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of whom a person has accepted which file."""

    student: str
    file: str


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A shard, this one of how many (from 1), that was taken in whole; `unclaimed` may be anybody's work.

    max_points: what the lab was worth when all of it was last graded, which is what those who handed in nothing get
    their points of; 0 where an earlier warpgrade did not say.
    """

    shard: tuple[int, int]
    unclaimed: list[str] = []
    max_points: float = 0.0

    def has(self, student: str) -> bool:
        """Tell whether a student is in this shard."""
        number = int.from_bytes(hashlib.sha256(student.encode("utf-8", "surrogatepass")).digest()[:8])
        return number % self.shard[1] == self.shard[0] - 1


def is_missing(parts: Sequence[Part], student: str) -> bool:
    """Tell whether a student of whom there is no submission has handed in nothing.

    Who seems to have done so may be in a shard that is not here, or have handed in what nobody is named for.
    """
    if any(part.unclaimed for part in parts):
        return False
    return not parts or any(part.has(student) for part in parts)


def max_points(parts: Sequence[Part], student: str) -> float:
    """Return what the lab was worth when the student's part of the class was graded; 0 if that is not known."""
    return max((part.max_points for part in parts if part.has(student)), default=0.0)


@dataclass(frozen=True)
class Store:
    """The folder of one class."""

    folder: Path

    # --- the class ---------------------------------------------------------------------------------------------------

    def head(self) -> Head | None:
        """Return what class.json says; None in a new folder. Raises BadInput where it is none of ours."""
        return self._read(self.folder / HEAD, Head)

    def begin(self, head: Head) -> Head:
        """Make the folder a class's, or return what it is already; two that begin at once agree."""
        for name in ("submissions", "results", "verdicts", "decisions"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        with reporting_disk_errors():
            scratch = self.folder / f".{HEAD}.{os.getpid()}"
            scratch.write_bytes(msgspec.json.format(msgspec.json.encode(head), indent=2) + b"\n")
            try:
                os.link(scratch, self.folder / HEAD)
            except FileExistsError:
                pass
            finally:
                scratch.unlink()
        found = self.head()
        assert found is not None  # noqa: S101 - it was written above
        return found

    @contextmanager
    def lock(self, part: str = "all") -> Iterator[None]:
        """Be the only one that grades this part of the class; raises BadInput where another does."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f".lock-{part}").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise BadInput(
                    f"another warpgrade is grading into {printable_name(str(self.folder))}",
                    hint="wait until it has ended, or choose another --out",
                ) from None
            yield

    @property
    def verdicts(self) -> Path:
        """The folder of verdicts by content."""
        return self.folder / "verdicts"

    # --- submissions -------------------------------------------------------------------------------------------------

    def records(self, student: str) -> list[Record]:
        """Return a student's submissions, in the order in which they came."""
        folder = self.folder / "submissions" / file_name(student)
        found = [record for path in sorted(folder.glob("*.json")) if (record := self._read(path, Record))]
        return sorted(found, key=lambda one: (one.submitted or one.seen, one.number))

    def students(self) -> Iterator[str]:
        """Yield all students of whom there are submissions."""
        for folder in sorted((self.folder / "submissions").glob("*")):
            for path in sorted(folder.glob("*.json")):
                if record := self._read(path, Record):
                    yield record.student
                    break

    def save(self, record: Record) -> None:
        """Write a submission's record."""
        self._write(self._record_path(record), record)

    def forget(self, record: Record) -> None:
        """Remove a record: of what was refused and can be read now."""
        self._record_path(record).unlink(missing_ok=True)

    def _record_path(self, record: Record) -> Path:
        name = f"{record.number:04d}-{record.digest[:16] or hashlib.sha256(record.source.encode()).hexdigest()[:16]}"
        return self.folder / "submissions" / file_name(record.student) / f"{name}.json"

    def find_student(self, who: str) -> str:
        """Return the student who is called so by roster or platform, in capital letters or not.

        Raises BadInput where that is nobody, or several: a decision about a misspelt student would be lost.
        """
        decided = (student for student, decisions in self.all_decisions() if decisions)
        known = sorted({*self.people(), *self.students(), *decided})
        if who in known or (who := identifier(who)) in known:
            return who
        meant = [each for each in known if each.casefold() == who.casefold()]
        meant = meant or [each for each in known if self._is_called(each, who)]
        if len(meant) == 1:
            return meant[0]
        close = meant or difflib.get_close_matches(who, known, n=3)
        hint = f"did you mean {listing(close, 3)}?" if close else "the first column of grades.csv names all"
        raise BadInput(f"nobody in this class is called {who}", hint=hint)

    def _is_called(self, student: str, who: str) -> bool:
        words = (word for record in self.records(student) for word in record.identifiers)
        return who.casefold() in (word.casefold() for word in words)

    # --- parts --------------------------------------------------------------------------------------------------------

    def parts(self) -> list[Part]:
        """Return the shards that were taken in; all of a class is shard 1 of 1."""
        found = (self._read(path, Part) for path in sorted((self.folder / "parts").glob("*.json")))
        return [part for part in found if part is not None]

    def save_part(self, part: Part) -> None:
        """Write that a shard was taken in."""
        self._write(self.folder / "parts" / "{}-of-{}.json".format(*part.shard), part)

    def take_in(self, part: Part, *, keep_points: bool) -> None:
        """Write that a shard was taken in; keep_points: the lab stays worth what it was before."""
        before = next((one.max_points for one in self.parts() if one.shard == part.shard), 0.0)
        self.save_part(msgspec.structs.replace(part, max_points=before) if keep_points and before else part)

    def lacking(self) -> list[str]:
        """Name the shards that were not taken in, though others of as many were."""
        shards = {part.shard for part in self.parts()}
        counts = {count for _, count in shards}
        if 1 in counts:
            return []
        return [f"{number} of {count}" for count in sorted(counts) for number in range(1, count + 1)
                if (number, count) not in shards]  # fmt: skip

    # --- results -----------------------------------------------------------------------------------------------------

    def result_path(self, key: str) -> Path:
        """Return where a result is."""
        return self.folder / "results" / f"{key}.json"

    def result(self, key: str) -> Result | None:
        """Return a result; None where there is none, or none that can be read."""
        try:
            return results.decode(self.result_path(key).read_bytes()) if key else None
        except (OSError, msgspec.DecodeError):
            return None

    def result_of(self, row: Row) -> Result | None:
        """Return the result behind a student's grade, with what only the student's submission has."""
        found = self.result(Path(row.result).stem if row.result else "")
        record = next((one for one in self.records(row.student) if one.digest == row.digest), None)
        if found is None or record is None:
            return found
        own = msgspec.structs.replace(
            found.submission, name=record.source, ignored=record.ignored,
            notes=[*record.notes, *(note for note in found.submission.notes if note not in record.notes)],
        )  # fmt: skip
        return msgspec.structs.replace(found, submission=own)

    def save_result(self, key: str, result: Result) -> None:
        """Write a result."""
        with reporting_disk_errors():
            files.replace(self.result_path(key), msgspec.json.encode(result) + b"\n")

    # --- people -------------------------------------------------------------------------------------------------------

    def people(self) -> dict[str, str]:
        """Return the names of all who are in the class, by identifier: also of those who handed in nothing."""
        return self._read(self.folder / "people.json", dict[str, str]) or {}

    def save_people(self, people: Mapping[str, str]) -> None:
        """Write who is in the class."""
        self._write(self.folder / "people.json", dict(sorted(people.items())))

    def aliases(self) -> dict[str, str]:
        """Return what those are called who are on the leaderboard under an alias."""
        return self._read(self.folder / "aliases.json", dict[str, str]) or {}

    def save_aliases(self, aliases: Mapping[str, str]) -> None:
        """Write what they are called."""
        self._write(self.folder / "aliases.json", dict(sorted(aliases.items())))

    # --- decisions ---------------------------------------------------------------------------------------------------

    def decisions(self, student: str) -> list[Decision]:
        """Return what was decided about a student, the last one last."""
        found = self._read(self.folder / "decisions" / f"{file_name(student)}.json", _Decided)
        return found.decisions if found else []

    def all_decisions(self) -> Iterator[tuple[str, list[Decision]]]:
        """Yield each student about whom something was decided, and what."""
        for path in sorted((self.folder / "decisions").glob("*.json")):
            if found := self._read(path, _Decided):
                yield found.student, found.decisions

    def decide(self, student: str, decisions: list[Decision]) -> None:
        """Write what was decided."""
        self._write(self.folder / "decisions" / f"{file_name(student)}.json", _Decided(student, decisions))

    def marks(self, student: str) -> list[Mark]:
        """Return what people gave and wrote who read a student's submissions, the last one last."""
        found = self._read(self.folder / "marks" / f"{file_name(student)}.json", _Marked)
        return found.marks if found else []

    def save_marks(self, student: str, marks: list[Mark]) -> None:
        """Write what was given."""
        self._write(self.folder / "marks" / f"{file_name(student)}.json", _Marked(student, marks))

    def accepted(self, student: str) -> str:
        """Return which file of a student's hand-ins a person has accepted as the main file; nothing: none."""
        found = self._read(self.folder / "accepted" / f"{file_name(student)}.json", _Accepted)
        return found.file if found else ""

    def accept(self, student: str, file: str) -> None:
        """Write which file it is."""
        self._write(self.folder / "accepted" / f"{file_name(student)}.json", _Accepted(student, file))

    # --- files -------------------------------------------------------------------------------------------------------

    def _write(self, path: Path, value: Any) -> None:
        with reporting_disk_errors():
            path.parent.mkdir(exist_ok=True)
            files.replace(path, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")

    def _read(self, path: Path, kind: type[T]) -> T | None:
        try:
            return msgspec.json.decode(path.read_bytes(), type=kind)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadInput(f"{printable_name(str(path), _WIDTH)} cannot be read: {error.strerror}") from None
        except msgspec.DecodeError as error:
            why = printable_name(str(error), 200)
            raise BadInput(
                f"{printable_name(str(path), _WIDTH)} is not what this warpgrade writes: {why}",
                hint="grade with the version that wrote it, or remove that file: what it held is graded again",
            ) from None


def new_seed() -> int:
    """Return a seed that nobody can guess."""
    return secrets.randbits(48)


@contextmanager
def reporting_disk_errors() -> Iterator[None]:
    """Say what is wrong where a file cannot be written."""
    try:
        yield
    except OSError as error:
        if known := disk_space.trouble(error):
            raise known from None
        raise GraderError(f"{printable_name(str(error.filename))} cannot be written: {error.strerror}") from None
