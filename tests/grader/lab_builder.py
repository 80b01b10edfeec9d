"""The builder of a lab's submissions, as grading makes it."""

from warpgrade.compiling import toolchain
from warpgrade.compiling.build import Builder
from warpgrade.lab.labs import Lab
from warpgrade.machine import device
from warpgrade.machine.paths import find_layout
from warpgrade.machine.sandbox import Sandbox


def lab_builder(lab: Lab) -> Builder:
    layout = find_layout()
    architecture, sandbox = device.resolve(layout, "auto").architecture, Sandbox(layout.program("warpgrade-sandbox"))
    return Builder(layout, lab, toolchain.find(layout), sandbox, architecture, layout.library(f"binding-{lab.name}"))
