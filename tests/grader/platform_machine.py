"""A machine of a platform: the system's programs, and of all else only what the platform lays down at its own paths."""

import importlib.metadata
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warpgrade.compiling import toolchain
from warpgrade.machine.paths import find_layout

# Of what the wheel needs. They stand in for a package index, which tests have none of.
NEEDED = ("click", "rich", "msgspec", "markdown-it-py", "mdurl", "pygments", "pyyaml", "jinja2", "markupsafe")
_SYSTEM = ("usr", "etc", "bin", "sbin", "lib", "lib32", "lib64")


@dataclass
class Machine:
    """Folders of the test by their paths on the machine; everything else but the system is gone after each command."""

    folders: dict[str, Path] = field(default_factory=dict)

    def folder(self, path: str, home: Path) -> Path:
        """Lay down a folder, and return where it is outside of the machine."""
        place = home / path.strip("/").replace("/", "-")
        place.mkdir(parents=True, exist_ok=True)
        self.folders[path] = place
        return place

    def run(
        self, command: Sequence[str], cwd: str = "/", values: Mapping[str, str] | None = None, *, broken: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; on a machine that is `broken`, no nvcc runs: grading ends with its own error."""
        words = ["bwrap", "--die-with-parent", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/root"]
        for name in _SYSTEM:
            path = Path("/", name)
            if path.is_symlink():
                words += ["--symlink", str(path.readlink()), str(path)]
            elif path.is_dir():
                words += ["--ro-bind", str(path), str(path)]
        cuda = toolchain.find(find_layout()).nvcc.resolve().parents[1]
        if not cuda.is_relative_to("/usr"):
            words += ["--ro-bind", str(cuda), str(cuda)]
        if broken:
            for folder in (
                Path("/usr/local/bin"),
                Path("/usr/bin"),
                *Path("/usr/local").glob("cuda*/bin"),
                cuda / "bin",
            ):
                if (nvcc := folder / "nvcc").exists() and not folder.parent.is_symlink():
                    words += ["--ro-bind", "/dev/null", str(nvcc.resolve() if nvcc.is_symlink() else nvcc)]
        words += ["--dev-bind", "/proc", "/proc"]  # whole, or the sandbox inside could not mount one of its own
        for inside, place in sorted(self.folders.items()):
            words += ["--bind", str(place), inside]
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/root", "PIP_NO_INDEX": "1"}
        environment |= {"CUDA_HOME": str(cuda), **(values or {})}
        words += ["--clearenv", *(word for item in environment.items() for word in ("--setenv", *item))]
        return subprocess.run(
            [*words, "--chdir", cwd, "--", *command], capture_output=True, text=True, check=False, timeout=1200,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip


def pack_needed(folder: Path) -> None:
    """Make wheels of what is installed here, for a machine that cannot ask an index."""
    for name in NEEDED:
        found = importlib.metadata.distribution(name)
        about = found.read_text("WHEEL") or ""
        tag = next(line.partition(": ")[2] for line in about.splitlines() if line.startswith("Tag: "))
        file = folder / f"{found.metadata['Name'].replace('-', '_')}-{found.version}-{tag}.whl"
        with zipfile.ZipFile(file, "w") as wheel:
            for part in found.files or ():
                if not str(part).startswith("..") and "__pycache__" not in str(part):
                    wheel.write(str(part.locate()), str(part))


def variables(text: str, values: Mapping[str, str]) -> str:
    """Return a line of a workflow with its variables as the service sets them."""
    for name, value in values.items():
        text = text.replace(f"${name}", value)
    return text
