"""What commands ask of the state, of git and of the disk: `python -m tools.measures --commands`.

Each command runs once, in a process that counts the calls of our functions. It runs in a scratch
repository: a bare remote, one clone and five issues; w1 works on issue 3 in a worktree with one
commit, w2 has a lease. Work in the background is on, but where a case says
that it is off. Before each case the repository is put back and synced, and then copied: a copy has
other inodes, so the settings and the policy are read anew, as they are when main has moved.

A function is counted by its code, so a class that is defined and, before Python 3.12, each
comprehension counts as one. What threads call counts, what other processes do does not.
A snapshot counts when the state is really read, not when the present one is asked for again; a fold
counts when there are records to decode.
"""

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from ghp_agents.core import running
from tools.processes import GIT_CONFIG, ROOT

PACKAGE = f"{ROOT}/ghp_agents/"
DEPTH = 5  # frames of ours that name a place
STARTS = ("fork_exec", "posix_spawn")  # of C, by which a process is started
LONGEST_S = 60.0  # until work in the background has ended

# Each measure, and the functions whose calls it counts. `missing` finds those that are no more.
COUNTED: dict[str, tuple[str, ...]] = {
    "snapshots": ("state.git.store:GitRefsStore._read_snapshot",),  # not the present one again
    "ref listings": (  # whose refs are read from the disk: of the state, of locks, of the clone
        "git.refs:read_refs", "git.refs:read_exact"
    ),
    "folds": (  # all records of a noun, or those below one of its folders, are put together
        "escalations.record:read", "handoffs.record:read_handoffs",
        "handoffs.returned:read_returns", "issues.replay:fold", "leases.record:read_leases",
        "messages.record:read", "notes.record:read_notes", "presence.stop_order:read_orders",
        "pulls.replay:fold",
    ),
}  # fmt: skip


class Case(NamedTuple):
    """A command that is counted."""

    words: str
    place: str = "."  # in the clone, or "work": in the worktree of issue 3
    background: bool = True


CASES = {
    "agent-finish": Case("agent-finish --as w1", "work"),
    "agent-claim": Case("agent-claim 2 --as w1"),
    "agent-send, background off": Case("agent-send w2 hello --as w1", background=False),
    "agent-handoff": Case("agent-handoff --as w1 --note x", "work"),
    "agent-status": Case("agent-status"),
}
BEGIN = (  # each in the clone, or "work:" in the worktree
    "agent-init --no-probe",
    *(f"agent-issue new Issue-{number} --as w1" for number in range(1, 6)),
    "agent-lease docs/** --as w2",
    "agent-heartbeat --as w2",
    "agent-start 3 --as w1",
)


class Cost(NamedTuple):
    """What a command asked for."""

    snapshots: int
    listings: int
    folds: int
    processes: int  # that it started, of git or of any other program
    opened: int  # files, pipes and folders, by `open` and `os.open`; not those of imports
    functions: int  # of our package that ran
    calls: int  # of them
    places: dict[str, dict[str, int]]  # where they were asked for, by measure


def count_all(names: Sequence[str] = ()) -> dict[str, Cost]:
    """The costs of each case, or of some."""
    with tempfile.TemporaryDirectory(prefix="costs-") as folder:
        scratch = _Scratch(Path(folder))
        return {name: scratch.count(CASES[name]) for name in names or CASES}


def table(costs: dict[str, Cost], *, detailed: bool = False) -> list[str]:
    """The lines of a table; `detailed` with the places that asked."""
    names = ("snapshots", "ref listings", "folds", "processes", "files opened", "functions",
             "calls")  # fmt: skip
    lines = [f"| command | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for name, cost in costs.items():
        lines.append(f"| {name} | {' | '.join(f'{value:,}' for value in cost[:-1])} |")
    for name, cost in costs.items() if detailed else ():
        for measure, places in cost.places.items():
            lines += ["", f"{name}: {measure}"]
            lines += [f"  {count} × {place}" for place, count in places.items()]
    return lines


def missing() -> list[str]:
    """The counted functions that the package does not have: they would count as none."""
    return [
        name for names in COUNTED.values() for name in names if not callable(_function_named(name))
    ]


def _function_named(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(f"ghp_agents.{module}")
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


class _Scratch:
    """The scratch repository, and a saved copy of it."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._saved = folder / "now", folder / "saved"
        self._home, self._clone = self._folder / "home", self._folder / "clone"
        self._home.mkdir(parents=True)
        (self._home / ".gitconfig").write_text(GIT_CONFIG)
        for words in (
            "git init --quiet --bare remote.git", "git clone --quiet remote.git clone"
        ):  # fmt: skip
            self._run(words.split(), self._folder)
        (self._clone / "a.txt").write_text("1\n")
        for words in ("git add .", "git commit -qm Begin", "git push -q origin main"):
            self._run(words.split(), self._clone)
        for words in BEGIN:
            self._ghp(words)
        work = self._work()
        (work / "b.txt").write_text("2\n")
        for words in ("git add .", "git commit -qm Work"):
            self._run(words.split(), work)
        self._ghp("agent-sync")
        shutil.copytree(self._folder, self._saved, symlinks=True)

    def count(self, case: Case) -> Cost:
        """Run a case in the repository as it was saved."""
        self._put(self._saved)
        self._ghp("agent-sync")
        fresh = self._folder.with_name("fresh")
        shutil.copytree(self._folder, fresh, symlinks=True)
        self._put(fresh)
        shutil.rmtree(fresh)
        result = self._folder.with_name("result.json")
        self._run(
            [sys.executable, "-P", "-m", "tools.costs", str(result), *case.words.split()],
            self._work() if case.place == "work" else self._clone,
            background=case.background,
        )
        self._await_background()
        return Cost(**json.loads(result.read_text()))

    def _put(self, source: Path) -> None:
        shutil.rmtree(self._folder)
        shutil.copytree(source, self._folder, symlinks=True)

    def _work(self) -> Path:
        return Path(self._ghp("agent-where 3").strip())

    def _ghp(self, words: str) -> str:
        return self._run([sys.executable, "-P", "-m", "ghp_agents", *words.split()], self._clone)

    def _run(self, words: Sequence[str], cwd: Path, *, background: bool = False) -> str:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._home),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONPATH": str(ROOT),
            **({} if background else {"GHP_BACKGROUND": "0"}),
        }
        done = subprocess.run(
            words, cwd=cwd, env=env, capture_output=True, encoding="utf-8", check=False
        )
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def _await_background(self) -> None:
        home = f"HOME={self._home}".encode()
        end = time.monotonic() + LONGEST_S
        while any(home in variables for _, variables in running.environments()):
            if time.monotonic() > end:
                raise RuntimeError("Work in the background does not end.")
            time.sleep(0.05)


class _Counter:
    """Counts what this process asks for, from `start` to `stop`."""

    def __init__(self) -> None:
        self._calls: Counter[tuple[str, str]] = Counter()
        self._places: dict[str, Counter[str]] = {}
        self._measures = {name: measure for measure, names in COUNTED.items() for name in names}

    def start(self) -> None:
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def stop(self) -> Cost:
        sys.setprofile(None)
        threading.setprofile(None)
        counts = {measure: places.total() for measure, places in self._places.items()}
        return Cost(
            snapshots=counts.get("snapshots", 0),
            listings=counts.get("ref listings", 0),
            folds=counts.get("folds", 0),
            processes=counts.get("processes", 0),
            opened=counts.get("files opened", 0),
            functions=len(self._calls),
            calls=self._calls.total(),
            places={measure: dict(x.most_common()) for measure, x in self._places.items()},
        )

    def _note(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event == "call":
            if code.co_filename.startswith(PACKAGE) and code.co_name != "<module>":
                self._calls[code.co_filename, code.co_qualname] += 1
                measure = self._measures.get(f"{_module(code.co_filename)}:{code.co_qualname}")
                if measure and (measure != "folds" or _has_records(frame)):
                    self._add(measure, frame.f_back)
        elif event == "c_call":
            name = getattr(arg, "__name__", "")
            if name in STARTS:
                self._add("processes", frame)
            elif name == "open":
                self._add("files opened", frame)

    def _add(self, measure: str, frame: FrameType | None) -> None:
        names: list[str] = []
        while frame is not None and len(names) < DEPTH:
            path = frame.f_code.co_filename
            if path.startswith(PACKAGE):
                names.append(f"{path[len(PACKAGE) :]}:{frame.f_lineno} {frame.f_code.co_name}")
            frame = frame.f_back
        self._places.setdefault(measure, Counter())[" < ".join(names)] += 1


def _has_records(frame: FrameType) -> bool:
    """Whether a fold gets any records: as a mapping, or in a tuple of several collections."""
    given = frame.f_locals[frame.f_code.co_varnames[0]]
    return any(given) if isinstance(given, tuple) else bool(given)


def _module(path: str) -> str:
    return path[len(PACKAGE) :].removesuffix(".py").replace("/", ".")


def _count_here(result: str, words: list[str]) -> None:
    """Run a command in this process, and write its costs into a file."""
    from ghp_agents.cli import app

    sys.argv = ["ghp", *words]
    counter = _Counter()
    counter.start()
    try:
        code = app.run(words)
    finally:
        cost = counter.stop()
    Path(result).write_text(json.dumps(cost._asdict()))
    sys.exit(code)


if __name__ == "__main__":
    _count_here(sys.argv[1], sys.argv[2:])
