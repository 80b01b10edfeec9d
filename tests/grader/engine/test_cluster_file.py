"""The file of --cluster: what it says, how mistakes in it are told, and what Parsl is given."""

import inspect
import re
import sys
from pathlib import Path

import pytest

from warpgrade.engine import cluster_file, pilot
from warpgrade.engine.cluster_file import Settings
from warpgrade.engine.parsl import wants_gpus
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import find_layout

PAGE = find_layout().root / "docs" / "scale.md"


def read(tmp_path: Path, text: str) -> Settings:
    path = tmp_path / "cluster.toml"
    path.write_text(text, encoding="utf-8")
    return cluster_file.read(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "missing key `provider`"),
        ('provider = "pbs"', "cluster.toml:1: provider: Invalid enum value 'pbs'"),
        ('provider = "slurm"\nnods = 4', "cluster.toml:2: unknown key `nods`, did you mean `nodes`?"),
        ('provider = "slurm"\nnodes = 0', "cluster.toml:2: nodes: Expected `int` >= 1"),
        ('provider = "slurm"\nwalltime = "2h"', "cluster.toml:2: walltime: Expected `str` of the form hours:minutes"),
        ('provider = "local"\npartition = "cpu"', "cluster.toml:2: partition says nothing to provider local"),
        ('provider = "kubernetes"', "cluster.toml:1: provider kubernetes needs a table [kubernetes] with an image"),
        ('provider = "slurm"\n[kubernetes]\nimage = "a"', "[kubernetes] says nothing to provider slurm"),
        ('provider = "slurm"\noptions = ["x\\nrm"]', "cluster.toml:2: “x?rm” is no option of sbatch"),
        ("provider = slurm", "is not valid TOML"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, text)
    assert told in refused.value.message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.toml cannot be read"):
        cluster_file.read(tmp_path / "none.toml")


def test_the_examples_of_the_page_can_be_read(tmp_path: Path) -> None:
    examples = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    providers = [read(tmp_path, text).provider for text in examples]
    assert {"slurm", "kubernetes"} <= set(providers)


def test_the_page_names_every_key() -> None:
    page = PAGE.read_text(encoding="utf-8")
    fields = [*Settings.__struct_fields__, *cluster_file.Kubernetes.__struct_fields__]
    assert [name for name in fields if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    ("device", "gpus", "wanted"), [("auto", 0, False), ("auto", 4, True), ("vgpu:h100", 4, False), ("gpu", 4, True)]
)
def test_a_worker_has_a_core_or_a_gpu(device: str, gpus: int, wanted: bool) -> None:
    assert wants_gpus(device, Settings("slurm", gpus_per_node=gpus)) is wanted


@pytest.mark.parametrize(("device", "told"), [("gpu", "how many GPUs a node has"), ("gpu:1", "one GPU of one machine")])
def test_a_gpu_that_is_not_there_is_refused(device: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        wants_gpus(device, Settings("slurm"))


def test_parsl_is_asked_for_one_worker_a_gpu_or_core() -> None:
    pytest.importorskip("parsl")
    with_gpus = pilot.executor_of(Settings("local", gpus_per_node=2, cores_per_node=8), gpus=True)
    assert (with_gpus.available_accelerators, with_gpus.max_workers_per_node) == (["0", "1"], 2)
    cores = pilot.executor_of(Settings("local", cores_per_node=8), gpus=False)
    assert (cores.available_accelerators, cores.max_workers_per_node) == ([], 8)
    unknown = pilot.executor_of(Settings("local", walltime="02:00:00"), gpus=False)
    assert (unknown.cores_per_worker, unknown.drain_period) == (1.0, 7200 - 180)


def test_what_pods_are_made_of_is_what_parsl_takes() -> None:
    kube = pytest.importorskip("parsl.providers.kubernetes.kube")
    pod = cluster_file.Kubernetes("image", volumes=[("claim", "/course")])
    settings = Settings("kubernetes", nodes=3, gpus_per_node=1, kubernetes=pod)
    given = pilot._of_kubernetes(settings)
    parameters = inspect.signature(kube.KubernetesProvider.__init__).parameters
    assert given.keys() <= parameters.keys()
    assert given["persistent_volumes"] == [("claim", "/course")]
    assert given["extra_limits"] == {"nvidia.com/gpu": "1"}


def test_without_parsl_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "parsl"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "parsl", None)
    with pytest.raises(BadInput) as refused:
        pilot.executor_of(Settings("local"), gpus=False)
    assert refused.value.message == "--engine parsl needs Parsl, which is not installed"
    assert refused.value.hint == 'pip install "warpgrade[cluster]"'


def test_what_a_scheduler_said_is_told_once() -> None:
    parsls = (
        "Error 1:\n\tFailed to start block 0: Cannot launch: stdout=, stderr=sbatch: error: no partition\n"
        "Error 2:\n\tEXIT CODE: 127\n\tSTDOUT: \n\tSTDERR: sbatch: error: no partition\n"
    )
    assert pilot._reason(parsls) == "sbatch: error: no partition"
