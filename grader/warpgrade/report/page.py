"""A submission or a program on one page of HTML: what to fix first, each test, each kernel, and the source with heat.

It needs no script: choices are radio buttons, and style shows what is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from warpgrade import __version__
from warpgrade.grading.result import Result
from warpgrade.machine.text import bounded, clean, number, one_line
from warpgrade.report import export, failures, html, pictures, profile
from warpgrade.report.findings import Finding, describe
from warpgrade.report.html import Markup, tag
from warpgrade.running.profile import Collector, Counters, Kernel, Profile

_WIDTH = 240
_MAX_FILES = 8
_DARKEST = 60  # per cent of the colour, so that the text stays readable
_MIN_SHARE = 0.001  # of a counter's sum; what is less is not shown at its line
_MARKS = {"pass": "✓", "partial": "◐", "slow": "○", "fail": "✗", "error": "!", "pending": "…"}
_CLASSES = {"pass": "good", "partial": "part", "slow": "part", "fail": "bad"}

# What the source may be coloured by: the title, and the counters that it adds up.
HEAT: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "instructions": ("instructions", ("inst_executed",)),
    "sectors": ("sectors", ("global_load_sectors", "global_store_sectors", "atomic_sectors")),
    "conflicts": ("bank conflicts", ("shared_load_bank_conflicts", "shared_store_bank_conflicts")),
    "divergence": ("divergent branches", ("divergent_branches",)),
}

TEST_STYLE = """
.mark { white-space: nowrap; width: 5.5rem }
.hint { margin: .4rem 0; padding-left: .75rem; border-left: 3px solid var(--line) }
.first { background: var(--mark); padding: 0 .3rem; border-radius: 3px }
@media (max-width: 34rem) { .mark span { display: none } .mark { width: 1.5rem } }
"""
_CHOICES = """
.choice { position: absolute; opacity: 0 }
.choice + label { display: inline-block; padding: .15rem .6rem; margin: 0 .3rem .5rem 0; border: 1px solid var(--line);
  border-radius: 1rem; cursor: pointer; font-size: .875rem }
.choice:checked + label { background: var(--mark); border-color: currentColor }
.choice:focus-visible + label { outline: 2px solid currentColor; outline-offset: 2px }
#tests-lost:checked ~ table .kept, #tests-kept:checked ~ table .lost { display: none }
@media print { .choice, .choice + label { display: none } .source { overflow: visible } }
"""
_STYLE = f"""
.points {{ font-size: 2rem; font-weight: 700; margin: 1rem 0 0 }}
.points small {{ font-size: 1rem; font-weight: 400 }}
.card {{ border: 1px solid var(--line); border-left: 4px solid var(--bad); border-radius: 4px; padding: .5rem .9rem;
  margin: 1rem 0 }}
.card h2 {{ margin-top: .3rem }}
.source {{ overflow-x: auto; font: .8125rem/1.45 ui-monospace, monospace }}
.source td, .source th {{ border: 0; padding: 0 .6rem 0 0; white-space: pre; font-size: inherit }}
.source td.number {{ padding: 0 .6rem 0 .3rem; width: 4rem }}
.source tr:target {{ outline: 2px solid currentColor }}
details {{ margin: .3rem 0 }}
.found {{ white-space: normal; font-family: system-ui, sans-serif; border-left: 3px solid var(--bad);
  padding-left: .5rem; margin: .2rem 0 .4rem; max-width: min(56rem, 82vw) }}
.advice {{ border-color: var(--part) }}
.picture svg {{ max-width: 100%; height: auto }}
.heat span {{ display: none }}
{TEST_STYLE}{_CHOICES}"""


def render_result(result: Result, findings: Sequence[Finding], folder: Path | None) -> bytes:
    """Return the page of a result, which holds what its reader may see.

    folder: where its files are; without one, the page has no source.
    """
    kernels = _count_kernels(launch for test in result.tests for launch in test.launches)
    sources = list(_read_submission(folder, [file.name for file in result.submission.files], kernels))
    first = next(iter(failures.in_order(result.tests)), None) if result.problem is None else None
    headline = export.headline(result)
    body: list[Markup] = [
        tag("header", tag("h1", headline), tag("div", one_line(result.submission.name, _WIDTH), class_="dim")),
        *(tag("pre", note) if "\n" in note else tag("p", note) for note in export.notes(result)),
    ]
    rows = export.rows(result)
    first_name = ""
    if first is not None:
        row = rows[result.tests.index(first)]
        first_name = row.name
        mine = [one for one in findings if first.name in one.tests and one.diagnostic.severity == "error"]
        body.append(_card(row, mine[:1], sources))
    if result.problem is None:
        body += [tag("h2", "Tests"), *_tests(rows, first_name)]
        body += [tag("figure", Markup(svg), tag("figcaption", title, class_="dim"), class_="picture")
                 for title, svg in pictures.draw_speed(result)]  # fmt: skip
    body += _kernels(kernels, "Counted in all tests whose numbers you may see.", findings, sources)
    body += _sources(sources, findings)
    return _page(headline, body, str(result.device.properties.get("name") or result.device.requested))


def render_profile(profiled: Profile, findings: Sequence[Finding]) -> bytes:
    """Return the page of a program that was run."""
    device = str(profiled.device.get("name", ""))
    title = f"{profile.time(profiled.clock_ns)} on the device"
    mistakes = [one for one in findings if one.diagnostic.severity != "advice"]
    files = sorted({line.file for kernel in profiled.kernels for line in kernel.lines})
    read = [(file, profile.source_lines(Path(file))) for file in files]
    sources = [_Source(profile.from_here(file), lines, _add_up_lines(profiled.kernels, file)) for file, lines in read]
    body = [tag("header", tag("h1", title)), *(tag("p", clean(error), class_="bad") for error in profiled.call_errors)]
    body += [tag("h2", "What the checks found"), *(_found(one, sources) for one in mistakes)] if mistakes else []
    body += [*_kernels(profiled.kernels, "The times are modelled.", findings, sources), *_sources(sources, findings)]
    return _page(title, body, device)


def _page(title: str, body: Iterable[Markup], device: str) -> bytes:
    foot = tag("footer", tag("p", f"{one_line(device, _WIDTH)}; Warpgrade {__version__}", class_="dim"))
    style = _STYLE + _heat_style()
    return html.page(title, (Markup(f"\n{each}") for each in [*body, foot]), style=style, width="64rem")


def test_row(row: export.Row, first: str, *, folded: bool = False) -> Markup:
    """Return the row of a test in a table of tests; `first` is the name of the one to begin with.

    folded: what is told of it unfolds from the first line; for the one to begin with it stands above the table.
    """
    name: list[str] = [row.name]
    if row.hidden:
        name += [" ", tag("span", "hidden", class_="dim")]
    if row.name == first:
        name += [" ", tag("span", "fix this first", class_="first")]
    mark = [_MARKS[row.outcome], tag("span", f" {row.outcome}")]
    style = _CLASSES.get(row.outcome, "dim")
    told = _messages(row) if not folded else [] if row.name == first else _folded(row)
    return tag(
        "tr", tag("td", mark, class_=f"mark {style}"), tag("td", tag("div", name), told),
        tag("td", row.points_text, class_="number"), class_="kept" if row.outcome == "pass" else "lost",
    )  # fmt: skip


def _messages(row: export.Row) -> list[Markup]:
    """Return the messages of a test that lost points, and its hints as elements of their own."""
    if not row.text or row.outcome == "pass":
        return []
    lines = row.text.split("\n")
    hints = [line for line in lines if line.startswith("hint: ")]
    rest = "\n".join(line for line in lines if not line.startswith("hint: "))
    return [*([tag("pre", rest)] if rest else []), *(tag("div", hint, class_="hint") for hint in hints)]


def _folded(row: export.Row) -> list[Markup]:
    whole = _messages(row)
    if not whole or "\n" not in row.text:
        return whole
    return [tag("details", tag("summary", row.text.partition("\n")[0]), whole)]


def _card(row: export.Row, found: Sequence[Finding], sources: Sequence[_Source]) -> Markup:
    """Return the failure to begin with, and the finding that explains it."""
    first, _, more = row.text.partition("\n\n")
    rest = (
        [tag("details", tag("summary", "the other checks of this test that failed"), tag("pre", more))] if more else []
    )
    hint = "\n".join(line for line in more.split("\n") if line.startswith("hint: "))
    inside = [tag("h2", "Fix this first: ", row.name), *(_found(one, sources) for one in found)]
    inside += [*_messages(replace(row, text=f"{first}\n{hint}".rstrip())), *rest]
    return tag("section", inside, class_="card")


def _tests(rows: Sequence[export.Row], first: str) -> Iterator[Markup]:
    lost = [row for row in rows if row.outcome != "pass"]
    choices = {"lost": f"with points to gain {len(lost)}"} if lost else {}
    choices |= {"all": f"all {len(rows)}", "kept": f"passed {len(rows) - len(lost)}"}
    table = [test_row(row, first, folded=True) for row in rows]
    yield tag("div", _choices("tests", choices), tag("table", table))


def _choices(group: str, choices: Mapping[str, str]) -> Iterator[Markup]:
    """Yield a radio button with its label for each choice; the first one is chosen."""
    for place, (name, title) in enumerate(choices.items()):
        checked = {"checked": "checked"} if place == 0 else {}
        yield tag("input", type="radio", class_="choice", name=group, id=f"{group}-{name}", **checked)
        yield tag("label", title, for_=f"{group}-{name}")


def _count_kernels(launches: Iterable[Mapping[str, object]]) -> list[Kernel]:
    """Return the kernels with their counters; a launch that is not as a device server writes it is left out."""
    collector = Collector()
    for launch in launches:
        try:
            collector.add({"launches": [dict(launch)]})
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    return collector.finish({}, 0).kernels


def _kernels(
    kernels: Sequence[Kernel], how: str, findings: Sequence[Finding], sources: Sequence[_Source]
) -> Iterator[Markup]:
    """Yield each kernel with what its time would lose without each cause, which advice says; the longest first."""
    if not kernels:
        return
    yield tag("h2", "Kernels")
    yield tag("p", how, class_="dim")
    advice = [one for one in findings if one.diagnostic.severity == "advice"]
    for kernel in kernels:
        mine = [one for one in advice if one.diagnostic.kernel in (kernel.name, kernel.symbol)]
        mine.sort(key=lambda one: -one.diagnostic.weight)
        yield _kernel(kernel, [_found(one, sources) for one in mine], unfolded=any(not one.settled for one in mine))


def _kernel(kernel: Kernel, advice: Sequence[Markup], *, unfolded: bool) -> Markup:
    rows = [tag("tr", tag("th", name, scope="row"), tag("td", facts)) for name, facts in profile.kernel_facts(kernel)]
    summary = f"{kernel.launches} launch{'es' if kernel.launches > 1 else ''}, {profile.time(kernel.total_ns)} in all"
    name = tag("strong", profile.short_name(kernel.name))
    heading = tag("summary", name, " ", tag("span", summary, class_="dim"))
    return tag("details", heading, advice, tag("table", rows), open="open" if unfolded else "")


@dataclass(frozen=True)
class _Source:
    """A file: its name, its lines, and {line: {name in HEAT: sum of its counters}}."""

    name: str
    lines: list[str]
    counted: dict[int, Counters]


def _read_submission(folder: Path | None, names: Iterable[str], kernels: Sequence[Kernel]) -> Iterator[_Source]:
    """Yield the files that were graded, where they are still in the folder."""
    if folder is None:
        return
    for name in names:
        if lines := profile.source_lines(folder / name):
            yield _Source(name, lines, _add_up_lines(kernels, name))


def _sources(sources: Sequence[_Source], findings: Sequence[Finding]) -> Iterator[Markup]:
    for place, source in enumerate(sources[:_MAX_FILES]):
        found: dict[int, list[Finding]] = {}
        for one in findings:
            if one.diagnostic.place.file == source.name and one.diagnostic.severity != "advice":
                found.setdefault(one.diagnostic.place.line, []).append(one)
        if not source.counted and not found:
            continue
        sums = {heat: sum(row[heat] for row in source.counted.values()) for heat in HEAT}
        choices = {heat: HEAT[heat][0] for heat in HEAT if sums[heat]}
        rows = [_line(source, at, sums, found.get(at, [])) for at in range(1, len(source.lines) + 1)]
        yield tag("h2", source.name)
        yield tag("div", _choices(f"heat{place}", choices), tag("div", tag("table", rows), class_="source"))


def _add_up_lines(kernels: Sequence[Kernel], file: str) -> dict[int, Counters]:
    """Return {line: {name in HEAT: sum of its counters}}."""
    sums: dict[int, Counters] = {}
    for line in (line for kernel in kernels for line in kernel.lines if line.file == file):
        into = sums.setdefault(line.line, {})
        for heat, (_, counters) in HEAT.items():
            into[heat] = into.get(heat, 0) + sum(line.counters.get(counter, 0) for counter in counters)
    return sums


def _line(source: _Source, at: int, sums: Counters, found: Sequence[Finding]) -> Markup:
    counted = source.counted.get(at, {})
    shares = {heat: counted[heat] / sums[heat] for heat in counted if counted[heat] >= _MIN_SHARE * sums[heat] > 0}
    words = (tag("span", f"{number(100 * share)} %", class_=heat, title=f"{counted[heat]:,} {HEAT[heat][0]}")
             for heat, share in shares.items())  # fmt: skip
    style = ";".join(f"--{heat}:{_DARKEST * share:.0f}%" for heat, share in shares.items())
    below = [_found(one, []) for one in found]
    return tag(
        "tr", tag("td", str(at), class_="number dim"), tag("td", words, class_="number heat", style=style),
        tag("td", source.lines[at - 1], below), id=_anchor(source.name, at),
    )  # fmt: skip


def _found(finding: Finding, sources: Sequence[_Source]) -> Markup:
    """Return a finding; its place is a link where the page has its line."""
    one = finding.diagnostic
    place: str = one_line(one.place.text, _WIDTH)
    if one.place.line and any(source.name == one.place.file for source in sources):
        place = tag("a", place, href=f"#{_anchor(one.place.file, one.place.line)}")
    body = bounded(clean(describe(finding)), lines=12, width=_WIDTH)
    rows = [tag("div", row) for row in body.split("\n")]
    style = "found advice" if one.severity == "advice" else "found"
    return tag("div", tag("strong", one_line(one.title, _WIDTH)), " ", place, rows, class_=style)


def _anchor(file: str, line: int) -> str:
    return f"{file}-L{line}"


def _heat_style() -> str:
    """Return the rules that show the counter that is chosen for each file."""
    rules = []
    for heat in HEAT:
        chosen = ",".join(f"#heat{place}-{heat}:checked ~ .source" for place in range(_MAX_FILES))
        rules.append(f":is({chosen}) .heat {{ background: color-mix(in srgb, var(--bad) var(--{heat}, 0%), "
                     f"transparent) }} :is({chosen}) .heat .{heat} {{ display: inline }}")  # fmt: skip
    return "\n".join(rules)
