"""What is known of a host compiler by what it says of itself."""

import dataclasses

import pytest

from warpgrade.compiling import toolchain
from warpgrade.machine.paths import find_layout

COMPILERS = toolchain.find(find_layout())


@pytest.mark.parametrize(
    ("says", "initializes"),
    [
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0", True),
        ("g++-13 (Ubuntu 13.2.0-23ubuntu4) 13.2.0", True),
        ("g++ (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", False),
        ("Debian clang version 16.0.6 (15)", False),
        ("c++", False),
    ],
)
def test_locals_begin_as_zeros_where_the_compiler_can(says: str, initializes: bool) -> None:
    compilers = dataclasses.replace(COMPILERS, host_version=says)
    assert bool(compilers.initialization) == initializes
