"""nvcc, called for one unit in one pair of folders, or the host compiler in its place."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpgrade.compiling import head_start, headers, link
from warpgrade.compiling.toolchain import Compilers
from warpgrade.machine.sandbox import TOOLS_ENVIRONMENT, Done, Limits, Run, Sandbox

# Where the two folders lie in the sandbox; -lineinfo writes the first into the program.
_SUBMISSION_FOLDER = link.SUBMISSION_FOLDER
_GIVEN_FOLDER = "/given"


@dataclass(frozen=True)
class Nvcc:
    """All that a call depends on besides its limits."""

    compilers: Compilers
    sandbox: Sandbox
    flags: Sequence[str]
    unit: str
    output: str
    sources: Path
    given: Path

    @property
    def folder(self) -> str:
        """Where it runs."""
        return _SUBMISSION_FOLDER if self.sandbox.has_own_paths else str(self.sources)

    @property
    def include(self) -> str:
        """Where what is given lies."""
        return _GIVEN_FOLDER if self.sandbox.has_own_paths else str(self.given)

    @property
    def record(self) -> Path:
        """Where the host compiler writes which headers it reads."""
        return self.sources / f"{self.output}.headers"

    def run(self, limits: Limits, start: Path | None, recorded: Path | None = None) -> Done:
        """Run it, with a head start if there is one; or to make one, of what `recorded` gets."""
        host = f"{head_start.FOLDER}/{head_start.COMPILER}" if start else str(self.compilers.host)
        return self._execute(self._command(host), limits, start, recorded)

    def run_host(self, limits: Limits, words: Sequence[str]) -> Done:
        """Run the host compiler in its place."""
        return self._execute([str(self.compilers.host), *words], limits)

    def ask_for_steps(self, limits: Limits) -> Done:
        """Have it say what it would run."""
        return self._execute([*self._command(str(self.compilers.host)), "--dryrun"], limits)

    def _command(self, host: str) -> list[str]:
        nvcc = str(self.compilers.nvcc.resolve())
        return [nvcc, *self.flags, "-ccbin", host, "-I", self.include, self.unit, "-o", self.output]

    def _execute(
        self, command: list[str], limits: Limits, start: Path | None = None, recorded: Path | None = None
    ) -> Done:
        self.record.unlink(missing_ok=True)
        environment = {**TOOLS_ENVIRONMENT, headers.RECORD_VARIABLE: f"{self.folder}/{self.record.name}"}
        if recorded is not None:
            environment[head_start.RECORD_VARIABLE] = f"{self.folder}/{recorded.name}"
        run = Run(
            command=command,
            limits=limits,
            directory=self.folder,
            read_only={
                _GIVEN_FOLDER: self.given,
                **({head_start.FOLDER: start} if start else {}),
                **{str(home): home for home in self.compilers.folders},
            },
            writable={_SUBMISSION_FOLDER: self.sources},
            environment=environment,
        )
        return self.sandbox.execute("compile", run)
