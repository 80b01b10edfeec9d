"""Where things lie in the project."""

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from warpgrade.machine import cpu
from warpgrade.machine.errors import GraderError

_NATIVE = Path(__file__).resolve().parents[1] / "_native"  # what a wheel holds beside the Python code
COMMAND = "warpgrade" if _NATIVE.is_dir() else "./warpgrade"  # as the user calls it


@dataclass(frozen=True)
class Layout:
    """Where the labs are, and where Warpgrade's own programs are: both in a checkout, or the latter in a package.

    native: the package's programs, libraries and headers; those of a checkout are in its build folder.
    """

    root: Path
    preset: str = "release"
    native: Path | None = None
    state_home: Path | None = None

    @property
    def labs(self) -> Path:
        """Task sheets, contracts, tests."""
        return self.root / "labs"

    @property
    def starters(self) -> Path:
        """What students begin with."""
        return self.root / "starter"

    @property
    def references(self) -> Path:
        """Hidden solutions."""
        return self.root / "reference"

    @property
    def state(self) -> Path:
        """Logs, stamps and caches; may be deleted at any time."""
        return self.state_home or self.root / ".state"

    @property
    def cache(self) -> Path:
        """Compiled submissions by content."""
        return self.state / "cache"

    @property
    def logs(self) -> Path:
        """Full logs of set-up, build and unexpected errors."""
        return self.state / "logs"

    @property
    def build(self) -> Path:
        """The CMake build folder in use."""
        return self.root / "build" / self.preset

    def program(self, name: str) -> Path:
        """Return a program of the C++ build."""
        return (self.native or self.build) / "bin" / name

    @property
    def device_server(self) -> Path:
        """The device server's program: of a package, the fastest that this processor runs."""
        if self.native is None:
            return self.program("warpgrade-device")
        programs = [self.program(f"warpgrade-device-{level}") for level in cpu.supported_levels()]
        return next((program for program in programs if program.is_file()), programs[0])

    @property
    def kit(self) -> Path:
        """The headers and libraries that judges are built with: a package's, which a checkout makes as well."""
        return self.native or self.build / "native"

    def library(self, name: str) -> Path:
        """Return a static library of the C++ build."""
        return self.libraries / f"lib{name}.a"

    @property
    def libraries(self) -> Path:
        """The folder of the libraries that students' programs and judges link."""
        return (self.native or self.build) / "lib"


def docs() -> Path:
    """Return the folder of the pages that `explain` prints: a package has those only."""
    return _NATIVE / "docs" if _NATIVE.is_dir() else Path(__file__).resolve().parents[3] / "docs"


def find_layout() -> Layout:
    """Return the layout of the checkout which this package lies in; of an installed one, with the labs around us."""
    if _NATIVE.is_dir():
        return Layout(root=_course_around(Path.cwd()), native=_NATIVE, state_home=_state_of_user())
    return Layout(root=Path(__file__).resolve().parents[3], preset=os.environ.get("WARPGRADE_PRESET", "release"))


def _course_around(folder: Path) -> Path:
    """Return the folder, or the nearest one above it, that holds labs; else the folder itself."""
    for candidate in (folder, *folder.parents):
        with contextlib.suppress(OSError):
            if (candidate / "course.toml").is_file() or any(candidate.glob("labs/*/lab.toml")):
                return candidate
    return folder


def _state_of_user() -> Path:
    """Return where an installed package keeps logs and caches: of the user, or in /tmp where no home can be written."""
    wanted = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")  # noqa: PTH111, PTH118
    folder = Path(wanted, "warpgrade")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    spare = Path(tempfile.gettempdir(), f"warpgrade-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        spare.mkdir(mode=0o700)
    if spare.is_symlink() or spare.stat().st_uid != os.getuid():
        raise GraderError(f"{spare} belongs to somebody else", hint="set XDG_CACHE_HOME to a folder of your own")
    return spare
