"""Parsl's side of the engine `parsl`: jobs of a scheduler that hold workers until all submissions are graded.

Parsl is imported here and nowhere else, and only when it is asked for.
"""

import contextlib
import functools
import importlib
import importlib.util
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from warpgrade.engine.cluster_file import Settings
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.text import bounded, clean

_HTEX = "parsl.executors.high_throughput"
_ATTEMPTS = 3  # so many jobs in a row that never gave a worker are enough
_MARGIN = 180  # seconds before the wall time at which workers take nothing new
_PARSLS_OWN = ("Error ", "EXIT CODE:", "STDOUT:", "Job is marked as MISSING", "Launching worker")


class Pilot:
    """Workers on a cluster, and what calls a function on them."""

    def __init__(self, executor: Any, kernel: Any, work: Callable[[bytes], bytes]) -> None:
        self._executor, self._kernel = executor, kernel
        self._app = _parsl("parsl.app.python").PythonApp(work, data_flow_kernel=kernel, cache=False)

    def submit(self, payload: bytes) -> Future[bytes]:
        """Have a worker call the function."""
        future: Future[bytes] = self._app(payload)
        return future

    def has_workers(self) -> bool:
        """Whether any node is there at the moment, and not only asked for."""
        return bool(self._executor.connected_managers())

    def require_alive(self) -> None:
        """Raise GraderError when nothing that is sent will be answered any more."""
        if self._executor.bad_state_is_set:
            raise GraderError(
                "the cluster gives no workers", detail=_reason(str(self._executor.executor_exception)),
                hint=f"look at the settings in the file of --cluster, and at Parsl's logs in {self._kernel.run_dir}",
            )  # fmt: skip
        if not self._has_interchange():
            raise GraderError("Parsl's process that deals out the work has ended")

    def end(self) -> None:
        """End the workers and take back the jobs, also those in which something runs."""
        if not self._has_interchange():  # Parsl would ask it for ever
            self._executor.provider.cancel(list(self._executor.blocks_to_job_id.values()))
            return
        with contextlib.suppress(Exception):  # what cannot be cleaned up ends by itself: no heartbeat, wall time
            self._kernel.cleanup()

    def _has_interchange(self) -> bool:
        process = self._executor.interchange_proc
        return process is not None and process.poll() is None


@contextlib.contextmanager
def start(settings: Settings, folder: Path, work: Callable[[bytes], bytes], *, gpus: bool) -> Iterator[Pilot]:
    """Ask for workers, and take them back at the end. The folder must be one that the nodes see as well."""
    dataflow = _parsl("parsl.dataflow.dflow")
    config = _parsl("parsl.config")
    folder.mkdir(parents=True, exist_ok=True)
    executor = executor_of(settings, gpus=gpus)
    kernel = dataflow.DataFlowKernel(
        config.Config(
            executors=[executor],
            run_dir=str(folder),
            strategy="simple",
            strategy_period=1,
            retries=0,
            initialize_logging=False,
            usage_tracking=0,
            exit_mode="skip",
        )
    )
    pilot = Pilot(executor, kernel, work)
    try:
        yield pilot
    finally:
        pilot.end()


def executor_of(settings: Settings, *, gpus: bool) -> Any:
    """Return Parsl's executor: one worker a core, or one a GPU."""
    module = _parsl(f"{_HTEX}.executor")
    python = settings.python or ("python3" if settings.provider == "kubernetes" else sys.executable)
    workers = settings.workers(gpus=gpus)
    return module.HighThroughputExecutor(
        label="warpgrade",
        provider=provider_of(settings),
        launch_cmd=module.DEFAULT_LAUNCH_CMD.replace(
            "process_worker_pool.py", f"{shlex.quote(python)} -m {_HTEX}.process_worker_pool", 1
        ),
        interchange_launch_cmd=[*_apart(), sys.executable, "-m", f"{_HTEX}.interchange"],
        address=settings.address or ("127.0.0.1" if settings.provider == "local" else None),
        max_workers_per_node=workers or None,
        cores_per_worker=1e-3 if workers else 1.0,  # a number of workers that was asked for is not for cores to limit
        available_accelerators=settings.gpus_per_node if gpus else (),
        heartbeat_threshold=settings.lost_after,
        heartbeat_period=max(1, settings.lost_after // 4),
        drain_period=settings.seconds - _MARGIN if settings.seconds > 2 * _MARGIN else None,
        block_error_handler=functools.partial(_give_up, attempts=_ATTEMPTS),
        encrypted=True,
    )


def provider_of(settings: Settings) -> Any:
    """Return Parsl's provider of nodes: each node is a job of its own, so that one is not lost with another."""
    blocks: dict[str, Any] = {
        "nodes_per_block": 1, "init_blocks": 1, "min_blocks": 0, "max_blocks": settings.nodes, "parallelism": 1,
    }  # fmt: skip
    if settings.provider == "kubernetes":
        if importlib.util.find_spec("kubernetes") is None:
            raise BadInput(
                "provider kubernetes needs the Python client of Kubernetes", hint='pip install "warpgrade[kubernetes]"'
            )
        return _parsl("parsl.providers").KubernetesProvider(**blocks, **_of_kubernetes(settings))
    blocks["worker_init"] = _worker_init(settings)
    if settings.provider == "local":
        return _parsl("parsl.providers").LocalProvider(**blocks)
    if shutil.which("sbatch") is None:
        raise BadInput("there is no sbatch here", hint="run this where jobs of Slurm are submitted")
    options = ["--no-requeue", *settings.options]  # what is lost is asked for anew, by us
    return _parsl("parsl.providers").SlurmProvider(
        **blocks,
        partition=settings.partition or None,
        account=settings.account or None,
        qos=settings.qos or None,
        cores_per_node=settings.cores_per_node or None,
        mem_per_node=settings.memory_per_node or None,
        gpus_per_node=settings.gpus_per_node or None,
        exclusive=not settings.cores_per_node,
        walltime=settings.walltime,
        scheduler_options="\n".join(f"#SBATCH {option}" for option in options),
        cmd_timeout=60,
    )


def _of_kubernetes(settings: Settings) -> dict[str, Any]:
    pod = settings.kubernetes
    assert pod is not None  # noqa: S101 - the file was checked
    return {
        "image": pod.image, "namespace": pod.namespace, "init_cpu": pod.cpu, "max_cpu": pod.cpu, "init_mem": pod.memory,
        "max_mem": pod.memory, "persistent_volumes": list(pod.volumes), "worker_init": settings.worker_init,
        "service_account_name": pod.service_account or None, "pod_name": "warpgrade",
        **({"extra_limits": {"nvidia.com/gpu": str(settings.gpus_per_node)}} if settings.gpus_per_node else {}),
    }  # fmt: skip


def _worker_init(settings: Settings) -> str:
    """Return what a node does before its workers start: what holds here holds there, then what the file says."""
    lines = [f"cd {shlex.quote(str(Path.cwd()))}"]
    lines += [
        f"export {name}={shlex.quote(os.environ[name])}"
        for name in ("PYTHONPATH", "WARPGRADE_PRESET", "WARPGRADE_NVCC", "PATH")
        if name in os.environ
    ]
    return "\n".join([*lines, settings.worker_init])


def _apart() -> list[str]:
    """Return what keeps Ctrl-C from Parsl's own process, whose end is ours to order, and ends it with us."""
    wanted = {"setsid": ["setsid"], "setpriv": ["setpriv", "--pdeathsig", "TERM"]}
    return [word for program, words in wanted.items() if shutil.which(program) for word in words]


def _give_up(executor: Any, status: dict[str, Any], attempts: int) -> None:
    """Tell the executor that it is useless when jobs end one after the other without ever giving a worker."""
    connected = set(executor.connected_blocks())
    last = sorted(status, key=int)[-attempts:]
    if len(last) == attempts and all(
        status[block].state.name in ("FAILED", "MISSING") and block not in connected for block in last
    ):
        handlers = _parsl("parsl.jobs.error_handlers")
        handlers.windowed_error_handler(executor, status, threshold=attempts)


def _reason(text: str) -> str:
    """Return what the scheduler and the failed jobs said, each line once, out of all that Parsl makes of it."""
    lines = (re.sub(r"^.*?(?:STDERR:|stderr=)", "", line.strip()).strip() for line in clean(text).splitlines())
    kept = [line for line in lines if line and not line.startswith(_PARSLS_OWN)]
    return bounded("\n".join(dict.fromkeys(kept)), lines=8)


def _parsl(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise BadInput(
            "--engine parsl needs Parsl, which is not installed", hint='pip install "warpgrade[cluster]"'
        ) from None
