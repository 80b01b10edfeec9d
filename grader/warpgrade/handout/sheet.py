"""The task sheet as one HTML page, figures included: what a student reads without a Markdown viewer."""

import base64
import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from markdown_it import MarkdownIt

from warpgrade.course.schema import RubricItem

_LINK_OUT = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|figures/|[\w.-]+\))[^)]*\)")
_IMAGE = re.compile(r'(<img [^>]*?src=")(figures/[\w.-]+\.(?P<kind>svg|png))(")')
_HIDDEN_ROW = re.compile(r"\|.*\| *(?P<points>[\d.]+) *\| *hidden *\|")
_POINTS_ROW = re.compile(
    r"^(?P<start>\|(?P<name>[^|\n]+)\|[ *]*)[\d.]+(?P<end>[ *]*\|(?: *(?:public|hidden))? *\|)$", re.MULTILINE
)
_TYPES = {"svg": "image/svg+xml", "png": "image/png"}
# Pages of ours that a handout does not have, and where it says the same.
_INSTEAD = {"docs/student.md": "[CHECK.md](CHECK.md)"} | dict.fromkeys(
    ("docs/checks.md", "docs/counters.md", "docs/runtime.md", "docs/glossary.md"), "`warpgrade explain`"
)
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1c1c1c; --page: #fff; --code: #f4f4f2; --line: #d8d8d4; --link: #0550ae; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e3e3e0; --page: #0d1117; --code: #1b212a; --line: #3d444d; --link: #79c0ff; }}
}}
body {{ font: 17px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 46rem;
        margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }}
a {{ color: var(--link); }}
h1, h2, h3 {{ line-height: 1.2; margin-top: 2rem; }}
pre, code {{ font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .92em; background: var(--code); }}
code {{ padding: .1em .25em; }} pre {{ padding: .8em 1em; overflow-x: auto; }}
pre code {{ padding: 0; overflow-wrap: normal; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; }}
th, td {{ border-bottom: 1px solid var(--line); padding: .35em .8em .35em 0; text-align: left; vertical-align: top; }}
td[style*="right"] {{ white-space: nowrap; }}
img {{ max-width: 100%; }}
/* On a telephone a figure is read piece by piece, rather than not at all. */
@media (max-width: 40rem) {{ p:has(> img) {{ overflow-x: auto; }} p > img {{ max-width: none; width: 38rem; }} }}
@media print {{ body {{ max-width: none; margin: 0; }} pre, img, tr {{ break-inside: avoid; }} }}
</style>
<body>
{body}
</body>
</html>
"""


def without_links_out(markdown: str) -> str:
    """Return a sheet whose links into the rest of the repository are plain words, or say where a handout has it."""
    return _LINK_OUT.sub(lambda link: _INSTEAD.get(link[1], link[1]), markdown)


def without_hidden_rows(markdown: str) -> str:
    """Return a sheet whose table of points has one row for all hidden tests, with their sum."""
    lines: list[str] = []
    total, place = 0.0, 0
    for line in markdown.splitlines():
        if row := _HIDDEN_ROW.fullmatch(line):
            place = place or len(lines)
            total += float(row["points"])
        else:
            lines.append(line)
    if total:
        lines.insert(
            place, f"| tests that run when your work is graded: other sizes, other inputs | {total:g} | hidden |"
        )
    return "\n".join(lines) + "\n"


def with_points(markdown: str, points: Mapping[str, float]) -> str:
    """Return a sheet whose table of points has those of the course: `points` by the tests' names."""

    def row(match: re.Match[str]) -> str:
        name = match["name"].strip()
        if name in points:
            return f"{match['start']}{points[name]:g}{match['end']}"
        return f"{match['start']}{sum(points.values()):g}{match['end']}" if name == "**total**" else match[0]

    return _POINTS_ROW.sub(row, markdown)


def rubric_section(items: Sequence[RubricItem]) -> str:
    """Return the section on points that a person gives; nothing if there are none."""
    if not items:
        return ""
    rows = [
        f"| {_cell(item.name)}{f': {_cell(item.description)}' if item.description else ''} | {item.points:g} |"
        for item in items
    ]
    return (
        "\n".join(["\n## Points that a person gives\n", "| what is looked at | points |", "|---|---:|", *rows]) + "\n"
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def page(markdown: str, folder: Path) -> str:
    """Return the page of a sheet whose figures lie in `folder`."""
    body = str(MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown))

    def inside(match: re.Match[str]) -> str:
        path = folder / match[2]
        if not path.is_file():
            return match[0]
        content = base64.b64encode(path.read_bytes()).decode()
        return f"{match[1]}data:{_TYPES[match['kind']]};base64,{content}{match[4]}"

    title = re.search(r"^# (.+)$", markdown, re.MULTILINE)
    return _PAGE.format(title=html.escape(title[1] if title else "Task sheet"), body=_IMAGE.sub(inside, body))
