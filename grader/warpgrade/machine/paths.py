"""Where things lie in the project."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The folders of one checkout."""

    root: Path
    preset: str = "release"

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
        return self.root / ".state"

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
        return self.build / "bin" / name

    def library(self, name: str) -> Path:
        """Return a static library of the C++ build."""
        return self.build / "lib" / f"lib{name}.a"


def find_layout() -> Layout:
    """Return the layout of the checkout which this package lies in."""
    return Layout(root=Path(__file__).resolve().parents[3], preset=os.environ.get("WARPGRADE_PRESET", "release"))
