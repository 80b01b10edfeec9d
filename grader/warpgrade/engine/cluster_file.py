"""The file that `--cluster` names: where a class is graded when it is not graded here (docs/scale.md)."""

import difflib
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from warpgrade.lab import toml_lines
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import printable_name

Positive = Annotated[int, msgspec.Meta(ge=1)]
WallTime = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,4}:[0-5][0-9]:[0-5][0-9]$")]


class Kubernetes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a pod is made of.

    image: holds Warpgrade, Parsl and nvcc. volumes: claim and mount path; one of them holds the course and the folder
    of the grades, at the same path as where `class` runs. cpu, memory: of one pod.
    """

    image: str
    namespace: str = "default"
    cpu: Positive = 2
    memory: str = "4Gi"
    volumes: list[tuple[str, str]] = []
    service_account: str = ""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of the file.

    nodes: how many at most at a time; each is a job, or a pod, of its own. workers_per_node: how many submissions at a
    time; 0 stands for one a core, or one a GPU. cores_per_node: what is asked of the scheduler; 0 takes whole nodes.
    memory_per_node: in GiB. options: further options of sbatch. worker_init: shell commands before the workers start.
    python: the interpreter there, if it is not ours. address: of this machine, as nodes reach it.
    tries: how often a submission is sent in all, when machines fail. lost_after: seconds without a sign of life.
    """

    provider: Literal["slurm", "kubernetes", "local"]
    nodes: Positive = 1
    walltime: WallTime = "01:00:00"
    partition: str = ""
    account: str = ""
    qos: str = ""
    workers_per_node: Annotated[int, msgspec.Meta(ge=0)] = 0
    cores_per_node: Annotated[int, msgspec.Meta(ge=0)] = 0
    gpus_per_node: Annotated[int, msgspec.Meta(ge=0)] = 0
    memory_per_node: Annotated[int, msgspec.Meta(ge=0)] = 0
    options: list[str] = []
    worker_init: str = ""
    python: str = ""
    address: str = ""
    tries: Positive = 3
    lost_after: Annotated[int, msgspec.Meta(ge=2)] = 120
    kubernetes: Kubernetes | None = None

    def workers(self, *, gpus: bool) -> int:
        """How many submissions a node takes at a time; 0 where that is the node's to know."""
        return self.workers_per_node or (self.gpus_per_node if gpus else self.cores_per_node)

    @property
    def seconds(self) -> int:
        """The wall time."""
        hours, minutes, seconds = map(int, self.walltime.split(":"))
        return 3600 * hours + 60 * minutes + seconds


_SLURM_ONLY = ("partition", "account", "qos", "options")
_MEANT = {"'^[0-9]{1,4}:[0-5][0-9]:[0-5][0-9]$'": "hours:minutes:seconds, such as 02:00:00"}


def read(path: Path) -> Settings:
    """Return what the file says; raises BadInput with the line of the first mistake."""
    name = printable_name(str(path), 300)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{name} is not UTF-8 text") from None
    except OSError as error:
        raise BadInput(
            f"{name} cannot be read: {error.strerror}", hint="--cluster takes a file such as those in docs/scale.md"
        ) from None
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{name} is not valid TOML: {error}") from None
    try:
        settings = msgspec.convert(raw, Settings)
    except msgspec.ValidationError as error:
        raise _mistake(name, *_told(str(error), raw, text)) from None
    for key, what in _contradictions(settings):
        raise _mistake(name, _line(text, key), what)
    return settings


def _mistake(name: str, line: int, what: str) -> BadInput:
    return BadInput(f"{name}:{line}: {what}" if line else f"{name}: {what}")


def _told(message: str, raw: dict[str, Any], text: str) -> tuple[int, str]:
    for pattern, meaning in _MEANT.items():
        message = message.replace(f"matching regex {pattern}", f"of the form {meaning}")
    line, what = toml_lines.explain_error(message, raw, text, ("kubernetes",))
    if place := re.search(r" - at `\$\.(\w+)`$", what):
        return _line(text, place[1]), f"{place[1]}: {what[: place.start()]}"
    if unknown := re.search(r"unknown key `(\w+)`", what):
        known = Kubernetes if "[kubernetes]" in what else Settings
        close = difflib.get_close_matches(unknown[1], known.__struct_fields__, n=1)
        what += f", did you mean `{close[0]}`?" if close else f"; known are {', '.join(known.__struct_fields__)}"
        line = line or _line(text, unknown[1])
    return line, what


def _contradictions(settings: Settings) -> list[tuple[str, str]]:
    if settings.provider == "kubernetes" and settings.kubernetes is None:
        return [("provider", "provider kubernetes needs a table [kubernetes] with an image")]
    if settings.provider != "kubernetes" and settings.kubernetes is not None:
        return [("provider", f"[kubernetes] says nothing to provider {settings.provider}")]
    if settings.provider != "slurm":
        unused = [key for key in _SLURM_ONLY if getattr(settings, key)]
        return [(key, f"{key} says nothing to provider {settings.provider}, only to slurm") for key in unused]
    wrong = [option for option in settings.options if not option.startswith("-") or "\n" in option]
    return [("options", f"“{printable_name(option)}” is no option of sbatch") for option in wrong]


def _line(text: str, key: str) -> int:
    """Return the line of a key that stands in no table; 0 where there is none."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            break
        if re.match(rf"\s*{key}\s*=", line):
            return number
    return 0
