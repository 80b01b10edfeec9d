"""The profile of `warpgrade run` on a terminal, from 60 columns up."""

from collections.abc import Iterable
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpgrade.findings.diagnosis import Diagnostic
from warpgrade.machine.text import clean, counted, number
from warpgrade.report import any_data, costs
from warpgrade.running.profile import Counters, Kernel, Profile, Shape

_MAX_WIDTH = 120
_WARP = 32
_LONG_NAME = 60
_FAULTS = ("memcheck/", "launch/", "synccheck/deadlock")  # what stops a kernel
_MAX_SOURCE_BYTES = 4 << 20
_TRANSFER_NAMES = {
    "to_device": "copies to the device",
    "to_host": "copies to the host",
    "within_device": "copies within the device",
    "fill": "fills",
}
_MIGRATION_NAMES = {
    "to_device": "unified memory to the device",
    "to_host": "unified memory to the host",
    "prefetched_to_device": "prefetches to the device",
    "prefetched_to_host": "prefetches to the host",
}


def show(console: Console, profile: Profile, *, lines: bool) -> None:
    """Print what the program did on the device."""
    width = min(console.width, _MAX_WIDTH)
    console.print()
    console.print(Text.assemble(("warpgrade", "bold"), " · ", str(profile.device.get("name", ""))), width=width)
    if note := sample_note(profile):
        console.print(Text(note, style="yellow"), soft_wrap=True)
    below = [kernel.error for kernel in profile.kernels if kernel.error]
    for diagnostic in profile.call_errors:
        if any(diagnostic.endswith(error) for error in below):
            continue  # stands under its kernel
        console.print(Text(clean(diagnostic), style="red"), soft_wrap=True)
    if not profile.kernels and not profile.transfers:
        console.print("the program did nothing on the device", width=width)
        return
    console.print(_overview(profile, width))
    for kernel in profile.kernels:
        console.print()
        console.print(_heading(kernel, explained=_is_explained(kernel, profile.diagnostics)), width=width)
        console.print(_details(kernel))
    if lines:
        for file in sorted({line.file for kernel in profile.kernels for line in kernel.lines}):
            console.print()
            console.print(_by_line(profile.kernels, file, width))


def sample_note(profile: Profile) -> str:
    """Return what a sample makes of the numbers and results of the whole run; nothing if all blocks ran."""
    samples = [kernel.sample for kernel in profile.kernels if kernel.sample]
    if not samples:
        return ""
    some, every = sum(one.launches for one in samples), sum(kernel.launches for kernel in profile.kernels)
    return (
        f"sampled: {some:,} of {counted(every, 'launch', 'launches')} ran only some of their blocks. Their counters "
        "and times are scaled; what the program computes is incomplete, and findings may follow from that"
    )


def short_name(name: str) -> str:
    """Leave template arguments and outer namespaces out of a long kernel name, as profilers do.

    `cub::…::DeviceReduceKernel<cub::…>` becomes `DeviceReduceKernel<…>`. JSON and trace have the whole name.
    """
    name = clean(name)
    if len(name) <= _LONG_NAME:
        return name
    depth, kept = 0, ""
    for at, character in enumerate(name):
        if character == "<":
            kept += "" if depth else "<…>"
            depth += 1
        elif character == ">" and name[at - 1] != "-" and depth:
            depth -= 1
        elif not depth:
            kept += character
    scopes = kept.split("::")
    while len(scopes) > 1 and len("::".join(scopes)) > _LONG_NAME // 2:
        del scopes[0]
    return "::".join(scopes)


def _overview(profile: Profile, width: int) -> Table:
    table = _table(width)
    modelled = any(kernel.counters for kernel in profile.kernels) or not profile.kernels
    table.add_column("modelled time of" if modelled else "time of", ratio=1, overflow="fold")
    for title in ("count", "total", "average"):
        table.add_column(title, justify="right", no_wrap=True)
    for kernel in profile.kernels:
        average = time(kernel.total_ns / kernel.launches)
        table.add_row(Text(short_name(kernel.name)), f"{kernel.launches:,}", time(kernel.total_ns), average)
    for kind, sums in profile.transfers.items():
        what = Text.assemble(_TRANSFER_NAMES[kind], (f"  {_bytes(sums.bytes)}", "dim"))
        table.add_row(what, f"{sums.count:,}", time(sums.total_ns), time(sums.total_ns / sums.count))
    for way, name in _MIGRATION_NAMES.items():
        if moved := profile.migrations.get(way):
            least = "" if profile.migrations_complete else "at least "
            size = f"  {least}{_bytes(moved.bytes)}, {counted(moved.pages, 'page')}"
            table.add_row(Text.assemble(name, (size, "dim")), "", "", "")
    table.add_row(Text("total, with overlap", style="dim"), "", time(profile.clock_ns), "")
    if (copies := costs.copies_share(profile)) >= costs.MIN_SHARE:
        table.add_row(Text("time without copies", style="dim"), "", costs.percent(copies), "")
    return table


def _is_explained(kernel: Kernel, diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether a finding, which stands below the profile, tells why the kernel stopped."""
    return any(
        one.severity == "error" and one.kernel == kernel.name and one.rule.startswith(_FAULTS) for one in diagnostics
    )


def _heading(kernel: Kernel, *, explained: bool) -> Text:
    grid = "grids of several sizes" if kernel.grid is None else f"grid {_dimensions(kernel.grid)}"
    block = "blocks of several sizes" if kernel.block is None else f"block {_dimensions(kernel.block)}"
    launches = "1 launch" if kernel.launches == 1 else f"{kernel.launches:,} launches"
    heading = Text.assemble((short_name(kernel.name), "bold"), (f"  {launches}, {grid}, {block}", "dim"))
    if kernel.error:
        heading.append("\nstopped: the error is below" if explained else f"\n{clean(kernel.error)}", style="red")
    return heading


def _details(kernel: Kernel) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in kernel_facts(kernel):
        table.add_row(f"  {name}", text)
    if found := costs.shares(kernel):
        table.add_row("  time without", costs.line(found))
    return table


def kernel_facts(kernel: Kernel) -> Iterable[tuple[str, str]]:
    """Yield what is worth a row: counters of what the kernel does not use are left out."""
    c = kernel.counters
    count = c.get
    if one := kernel.sample:
        yield "sampled", f"{one.blocks_run:,} of {counted(one.blocks, 'block')} ran: numbers are scaled"
    if c:
        lanes = _ratio(count("thread_inst_executed", 0), count("inst_executed", 0))
        yield "instructions", f"{count('inst_executed', 0):,} warp instructions; {lanes} of {_WARP} lanes active"
    for title, prefix in (
        ("global loads", "global_load"),
        ("global stores", "global_store"),
        ("global atomics", "atomic"),
        ("texture fetches", "texture"),
        ("surface loads", "surface_load"),
        ("surface stores", "surface_store"),
        ("local loads", "local_load"),
        ("local stores", "local_store"),
    ):
        if requests := count(f"{prefix}_requests", 0):
            sectors = count(f"{prefix}_sectors", 0)
            told = f"{counted(requests, 'request')}, {counted(sectors, 'sector')}"
            met = f"; {_ratio(count('atomic_cycles', 0), sectors)} lanes meet at a word" if prefix == "atomic" else ""
            yield title, f"{told}: {_ratio(sectors, requests)} per request{met}"
    for title, prefix in (("shared loads", "shared_load"), ("shared stores", "shared_store")):
        if requests := count(f"{prefix}_requests", 0):
            conflicts = count(f"{prefix}_bank_conflicts", 0)
            told = counted(conflicts, "bank conflict") if conflicts else "no bank conflicts"
            wavefronts = counted(count(f"{prefix}_wavefronts", 0), "wavefront")
            yield title, f"{counted(requests, 'request')}, {wavefronts}: {told}"
    if requests := count("constant_load_requests", 0):
        words = count("constant_load_wavefronts", 0)
        yield "constant loads", f"{counted(requests, 'request')}: {_ratio(words, requests)} different words per request"
    if requests := count("shared_atomic_requests", 0):
        wavefronts = counted(count("shared_atomic_wavefronts", 0), "wavefront")
        yield "shared atomics", f"{counted(requests, 'request')}, {wavefronts}"
    yield from _cache_facts(c)
    if branches := count("branches", 0):
        divergent = count("divergent_branches", 0)
        yield "branches", f"{branches:,}, of which {divergent:,} divergent ({_percent(divergent / branches)})"
    if barriers := count("barriers", 0):
        yield "barriers", f"{barriers:,}"
    limiter = f"{kernel.limiter} per multiprocessor" if kernel.limiter == "blocks" else kernel.limiter
    if c:
        achieved = _percent(kernel.achieved_occupancy)
        yield "occupancy", f"{_percent(kernel.occupancy)} limited by {limiter}; {achieved} achieved"
    shared = kernel.static_shared_bytes + kernel.dynamic_shared_bytes
    yield (
        "resources",
        f"{kernel.registers_per_thread} registers per thread, {shared:,} bytes of shared memory per block",
    )
    if kernel.any_data:
        yield "checked", any_data.words(kernel.any_data)


def _cache_facts(c: Counters) -> Iterable[tuple[str, str]]:
    if sectors := c.get("global_load_sectors", 0):
        yield "L1 cache", f"{_percent(c.get('global_load_l1_hits', 0) / sectors)} of the sectors of global loads hit"
    if sectors := c.get("l2_read_sectors", 0):
        yield "L2 cache", f"{sectors:,} sectors read, {_percent(c.get('l2_read_hits', 0) / sectors)} hits"
    read, written = (32 * c.get(f"dram_{way}_sectors", 0) for way in ("read", "write"))
    if read or written:
        yield "device memory", f"{_bytes(read)} read, {_bytes(written)} written back"


def _by_line(kernels: list[Kernel], file: str, width: int) -> Table:
    """Return the counters of one source file, with its text where it can be read."""
    sums: dict[int, Counters] = {}
    for kernel in kernels:
        for line in kernel.lines:
            if line.file == file:
                into = sums.setdefault(line.line, {})
                for name, value in line.counters.items():
                    into[name] = into.get(name, 0) + value
    source = source_lines(Path(file))
    table = _table(width)
    table.add_column("line", justify="right", no_wrap=True)
    for title in ("instr.", "global", "/req", "shared", "confl.", "diverg."):
        table.add_column(title, justify="right", no_wrap=True, style="cyan")
    table.add_column(from_here(file), ratio=1, no_wrap=True, overflow="ellipsis")
    for row, c in sorted(sums.items()):
        requests = sum(c.get(f"{name}_requests", 0) for name in ("global_load", "global_store", "atomic"))
        sectors = sum(c.get(f"{name}_sectors", 0) for name in ("global_load", "global_store", "atomic"))
        wavefronts = c.get("shared_load_wavefronts", 0) + c.get("shared_store_wavefronts", 0)
        conflicts = c.get("shared_load_bank_conflicts", 0) + c.get("shared_store_bank_conflicts", 0)
        table.add_row(
            str(row), _short(c.get("inst_executed", 0)), _short(sectors), _ratio(sectors, requests),
            _short(wavefronts), _short(conflicts), _short(c.get("divergent_branches", 0)),
            Text(source[row - 1].strip() if row <= len(source) else ""),
        )  # fmt: skip
    return table


def from_here(file: str) -> str:
    """Return the path from the working directory, for files below it."""
    path = Path(file)
    return clean(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def source_lines(file: Path) -> list[str]:
    """Return the lines of a file; of a link or what cannot be read, none."""
    try:
        if file.is_symlink() or not file.is_file():
            return []
        with file.open("rb") as source:
            return clean(source.read(_MAX_SOURCE_BYTES)).expandtabs(4).split("\n")
    except (OSError, ValueError):
        return []


def _table(width: int) -> Table:
    return Table(box=box.SIMPLE_HEAD, width=width, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)


def _ratio(part: int, whole: int) -> str:
    return number(part / whole) if whole else ""


def _percent(share: float) -> str:
    return f"{number(100 * share)} %"


def _dimensions(shape: Shape) -> str:
    x, y, z = shape
    return f"{x:,}" if y == z == 1 else f"{x}×{y}" if z == 1 else f"{x}×{y}×{z}"


def time(nanoseconds: float) -> str:
    """Return `3.14 ms`."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.2f} {unit}"
    return f"{nanoseconds:.0f} ns"


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{number(count / size)} {unit}"
    return f"{count} bytes"


def _short(count: int) -> str:
    """Return at most five characters; nothing for zero, so that what is there stands out."""
    if count == 0:
        return ""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= 10 * size:
            return f"{count / size:.0f}{unit}"
        if count >= size and unit != "k":
            return f"{count / size:.1f}{unit}"
    return str(count)
