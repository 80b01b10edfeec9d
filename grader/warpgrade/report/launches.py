"""The launches of a stored result, summed up by kernel."""

from collections.abc import Iterable, Mapping

from warpgrade.running.profile import Collector, Profile

_MOST = 1e18  # of anything that is counted


def collect(launches: Iterable[Mapping[str, object]]) -> Profile:
    """Return what the launches counted; one that is not as a device server writes it is left out."""
    collector = Collector()
    for launch in launches:
        if not launch.get("counters") or not _is_plausible(launch):
            continue
        try:
            collector.add({"launches": [dict(launch)], "call_errors": [], "diagnostics": [], "clock_ns": 0})
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    return collector.finish({}, 0)


def _is_plausible(value: object) -> bool:
    """Tell whether all numbers in a launch are such as a device counts: a stored result may be anybody's."""
    if isinstance(value, Mapping):
        return all(map(_is_plausible, value.values()))
    if isinstance(value, list):
        return all(map(_is_plausible, value))
    return not isinstance(value, int | float) or 0 <= value < _MOST
