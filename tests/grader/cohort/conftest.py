from pathlib import Path

import pytest
from cohort.made_class import MadeClass, Stub

from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import Layout


@pytest.fixture
def made(layout: Layout, lab: Lab, tmp_path: Path) -> MadeClass:
    return MadeClass(layout, lab, Stub(lab), tmp_path)
