"""Failure tags: names of patterns in a failure, such as `transposed`, to which a lab gives hints (docs/labs.md).

The judge finds most of them (grader/judge/signs.hpp). lab.toml, verdicts and results call them signs.
"""

from typing import Final

COUNTERS: Final = "counters"  # right results, but a counter or the speed is not as it should be
# What the checks found in the test.
RACE: Final = "race"
UNINITIALIZED: Final = "uninitialized"
DEVICE_FAULT: Final = "device-fault"
HOST_POINTER: Final = "host-pointer"  # a device fault of its own kind: no index is wrong
UNWRITTEN: Final = "unwritten"  # an output is as it was before, or holds device memory that nothing wrote
UNSET: Final = "unset"  # a variable of the kernel has no value

ORDER: Final = "order"  # results are right in one order of blocks and warps only
UNBEGUN: Final = "unbegun"  # the function does just what the starter's does

# Values so many times as large as the launch had threads or blocks, or without their fractions: the message says why.
REPEATED: Final = "repeated"
TRUNCATED: Final = "truncated"
PRECISION: Final = "precision"  # values are nearly right, or too large for half precision

# How a call ended, if not well, or another reason that explains itself: the message says what to do, and a lab's hint
# on the kernel would distract from it.
ENDED: Final = ("time-out", "crash", DEVICE_FAULT, "cuda-error", UNWRITTEN, UNSET, "origin", ORDER, UNBEGUN)
# What was found besides, what is wrong with the values, where they are wrong: the more telling first.
WRONG: Final = (
    RACE, UNINITIALIZED, "nan", "zeros", "transposed", "reversed", "shifted", REPEATED, TRUNCATED, "factor", "constant",
    PRECISION, "stride", "tile", "later", "tail", "edge", "single", "all", "wrong",
)  # fmt: skip
FAILURE_TAGS: Final = frozenset([*ENDED, HOST_POINTER, *WRONG, COUNTERS])
