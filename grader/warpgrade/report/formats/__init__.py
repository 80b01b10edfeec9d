"""Reports for other programs, one file each: a module here gives its `FORMAT`, and is found."""

import importlib
import pkgutil

from warpgrade.report.format import Format, Reads


def find_formats(reads: Reads) -> list[Format]:
    """Return the formats that a result, or a profile, can be written in."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    known: list[Format] = [importlib.import_module(f"{__name__}.{name}").FORMAT for name in names]
    return [each for each in known if each.reads in (reads, "findings")]
