"""A real Slurm on this machine for tests: a controller and two nodes on loopback, in a folder of their own.

Debian's slurmd may run several times on one host under names of their own (-N). No systemd, no cgroups, no database;
munge has a key and a socket of its own, so that nobody else is let in. All processes end with the test.
"""

import contextlib
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel", "scontrol")
NODES = ("one", "two")

_CONFIGURATION = """\
ClusterName=warpgrade
SlurmctldHost={host}({address})
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
{listening}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdSpoolDir={folder}/spool-%n
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SlurmdTimeout=3
MessageTimeout=2
TCPTimeout=1
KillWait=1
ReturnToService=2
"""
_NODE = "NodeName={name} NodeHostname={host} NodeAddr={address} Port={port} CPUs=2 State=UNKNOWN\n"
_PARTITION = "PartitionName=class Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"


def why_not() -> str:
    """Say what is missing here; nothing where a cluster can be started."""
    missing = [program for program in _PROGRAMS if shutil.which(program, path=_PATH) is None]
    return f"{', '.join(missing)} not found: ./warpgrade test installs Debian's slurm-wlm" if missing else ""


@dataclass
class Cluster:
    """A Slurm that runs. environment: what its commands, such as sbatch, need."""

    folder: Path
    environment: dict[str, str]
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def command(self, *words: str) -> str:
        """Call one of Slurm's commands; return what it prints."""
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, timeout=30, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}{self.log()}"
        return done.stdout.strip()

    def states(self, job: str) -> list[str]:
        """Return the states of a job, or of the members of an array, also of those that have ended."""
        return self.command("squeue", "--noheader", "--array", "--states=all", "--format=%T", "--jobs", job).split()

    def until(self, there: Callable[[], T], seconds: float = 60) -> T:
        """Wait for something that is true; return it."""
        ends = time.monotonic() + seconds
        while not (found := there()):
            assert time.monotonic() < ends, self.log()
            time.sleep(0.1)
        return found

    def wait(self, job: str, seconds: float = 120) -> list[str]:
        """Return the states of a job, or of an array's members, when all of them have ended."""
        under_way = {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "REQUEUED"}
        self.until(lambda: (states := self.states(job)) and not under_way & set(states), seconds)
        return self.states(job)

    def hurry(self, job: str) -> None:
        """Let what Slurm has taken back after a loss begin now; usually it waits two minutes."""
        waiting = ("squeue", "--noheader", "--array", "--states=PENDING", "--format=%r %i", "--jobs", job)
        self.until(lambda: "BeginTime" in self.command(*waiting))
        for line in self.command(*waiting).splitlines():
            self.command("scontrol", "update", f"JobId={line.split()[1]}", "StartTime=now")

    def kill(self, node: str) -> int:
        """End a node as a power cut does: the daemon, and all that runs there. Return how many processes that were."""
        killed = 0
        while found := [*self._of_node(node), *([self.daemons[node].pid] if self.daemons[node].poll() is None else [])]:
            for number in (signal.SIGSTOP, signal.SIGKILL):  # all at once: nobody reports the end of another
                for process in found:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, number)
            self.daemons[node].wait()
            killed += len(found)
        return killed

    def end(self) -> None:
        """End the daemons and whatever else belongs to this cluster."""
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            self.command("scancel", "--full", "--signal=KILL", "--user", str(os.getuid()))
        for daemon in reversed(self.daemons.values()):
            daemon.kill()
            daemon.wait()
        for _ in range(100):
            found = [process for process, _ in self._processes() if process != os.getpid()]
            if not found:
                return
            for process in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.05)

    def log(self) -> str:
        """Return the end of what the daemons have written."""
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(f"--- {log.name}\n{log.read_text(errors='replace')[-2000:]}" for log in logs)

    def _of_node(self, node: str) -> list[int]:
        """Return what jobs have started on a node, after the slurmstepd that started and watches it."""
        own = dict(self._processes())
        found = [process for process, environment in own.items() if environment.get("SLURMD_NODENAME") == node]
        parents: set[int] = set()
        for process in found:
            with contextlib.suppress(OSError):
                parents.add(_parent(process))
        daemons = {daemon.pid for daemon in self.daemons.values()}
        return [*((parents & own.keys()) - daemons - set(found)), *found]

    def _processes(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield the processes of this cluster, by the configuration that their environment names."""
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                entries = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
                environment = dict(entry.split("=", 1) for entry in entries if "=" in entry)
                if environment.get("SLURM_CONF") == self.environment["SLURM_CONF"] and not _is_dead(folder):
                    yield int(folder.name), environment


def _is_dead(folder: Path) -> bool:
    return (folder / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


@contextlib.contextmanager
def started() -> Iterator[Cluster]:
    """Start a cluster of two nodes with two processors each; end it, and remove its files."""
    folder = Path(tempfile.mkdtemp(prefix="wg-slurm-"))  # short: paths of sockets are
    folder.chmod(0o755)
    (folder / "state").mkdir()
    for node in NODES:
        (folder / f"spool-{node}").mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    host, ports = socket.gethostname().split(".")[0], _free_ports(1 + len(NODES))
    address, listening = _address(host)
    text = _CONFIGURATION.format(
        host=host, address=address, listening=listening, controller=ports[0], user=_user(), folder=folder
    )
    for node, port in zip(NODES, ports[1:], strict=True):
        text += _NODE.format(name=node, host=host, address=address, port=port)
    (folder / "cgroup.conf").write_text(f"CgroupPlugin={_cgroups()}\n", encoding="utf-8")
    configuration = folder / "slurm.conf"
    configuration.write_text(text + _PARTITION, encoding="utf-8")
    environment = {**os.environ, "PATH": _PATH, "SLURM_CONF": str(configuration)}
    cluster = Cluster(folder, environment)
    try:
        _start(cluster)
        yield cluster
    finally:
        cluster.end()
        shutil.rmtree(folder, ignore_errors=True)


def _address(host: str) -> tuple[str, str]:
    """Return where the daemons listen, and what tells them so: at what their host's name stands for, or anywhere."""
    try:
        return socket.gethostbyname(host), "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny"
    except OSError:
        return "127.0.0.1", ""


def _cgroups() -> str:
    """Return the plugin that asks nothing of the machine: others want systemd where there are cgroups of version 2."""
    said = subprocess.run(["slurmd", "-V"], env={"PATH": _PATH}, capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    return "disabled" if found and tuple(map(int, found.groups())) >= (23, 11) else "cgroup/v1"


def _start(cluster: Cluster) -> None:
    folder = cluster.folder
    own = {name: f"{folder}/munge.{name}" for name in ("socket", "pid", "seed")}
    munge = ["munged", "--foreground", "--force", f"--key-file={folder}/munge.key", f"--socket={own['socket']}"]
    munge += [f"--pid-file={own['pid']}", f"--seed-file={own['seed']}"]
    commands = {"munge": munge, "controller": ["slurmctld", "-D", "-i"]}
    commands |= {node: ["slurmd", "-D", "-N", node] for node in NODES}
    for name, command in commands.items():
        with (folder / f"{name}.log").open("wb") as out:
            cluster.daemons[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command], env=cluster.environment, stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        if name == "munge":
            cluster.until(Path(own["socket"]).exists)
    cluster.until(lambda: _idle(cluster) == len(NODES), 30)


def _idle(cluster: Cluster) -> int:
    dead = [name for name, daemon in cluster.daemons.items() if daemon.poll() is not None]
    assert not dead, f"{dead} ended\n{cluster.log()}"
    done = subprocess.run(
        ["sinfo", "--noheader", "--states=idle", "--format=%D"], env=cluster.environment, capture_output=True,
        text=True, check=False, timeout=30,
    )  # fmt: skip
    return sum(map(int, done.stdout.split())) if done.returncode == 0 else 0


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as open_ones:
        sockets = [open_ones.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _user() -> str:
    return pwd.getpwuid(os.getuid()).pw_name
