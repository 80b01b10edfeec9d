"""Warpgrade's grader: takes a CUDA submission, has it built and judged, scores and reports it."""

__version__ = "0.1.0"


def load_ipython_extension(ipython: object) -> None:
    """Add `%%cuda` and `%%check` to a notebook: `%load_ext warpgrade`."""
    from warpgrade.notebook.magics import WarpgradeMagics  # noqa: PLC0415 - needs IPython, which only notebooks have

    ipython.register_magics(WarpgradeMagics)  # type: ignore[attr-defined]
