"""Warpgrade's grader: takes a CUDA submission, has it built and judged, scores and reports it."""

__version__ = "0.1.0"
