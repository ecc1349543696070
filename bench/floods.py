"""A sync that hears 5,000 forged messages of one clone, each of which starts a workflow or asks
this clone's agent, against the same sync without them: the first one, which reads them all, and a
later one. Compared are processor times, with those of all child processes."""

import os
import subprocess
from functools import partial
from itertools import count
from pathlib import Path

from bench.figure import Figure
from bench.place import Place, git
from bench.timing import interleave, processor, ratio
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.messages import record
from ghp_agents.messages.message import Message

FIRST, LATER = 4, 3  # times the same sync without a flood
MESSAGES = 5_000
REF = b"refs/ghp/clone/eeeeeeeeeeee"
AT = Timestamp("2026-01-02T03:04:05Z")
UNIT = "× the same without them"


def measure(place: Place) -> list[Figure]:
    """Both syncs, with a flood and without one."""
    number = 200 if place.quick else MESSAGES
    flooded, quiet = place.remote("flooded"), place.remote("quiet")
    _flood(flooded, number)
    names = count(1)

    def first(remote: Path) -> float:
        return _sync(place, _clone(place, remote, next(names)))

    later = {"flood, later": _clone(place, flooded, 0), "none, later": _clone(place, quiet, 0)}
    for clone in later.values():
        _sync(place, clone)
    cases = {"flood": partial(first, flooded), "none": partial(first, quiet)}
    cases |= {name: partial(_sync, place, clone) for name, clone in later.items()}
    times = interleave(cases, 2 if place.quick else 7)
    name = f"{number:,} forged messages"
    return [
        ratio("floods", f"agent-sync that hears {name}", times["flood"], times["none"], UNIT,
              FIRST),
        ratio("floods", f"agent-sync with {name}", times["flood, later"], times["none, later"],
              UNIT, LATER),
    ]  # fmt: skip


def _clone(place: Place, remote: Path, number: int) -> Path:
    """A clone with an agent, which has not heard of others."""
    path = remote.parent / f"floods-{number}"
    git(remote.parent, "clone", "-q", str(remote), str(path))
    words = ("agent-heartbeat", "--as", "worker-1")
    processor([place.installed.ghp, *words], cwd=path, env=os.environ)
    return path


def _sync(place: Place, clone: Path) -> float:
    return processor([place.installed.ghp, "agent-sync"], cwd=clone, env=os.environ)


def _flood(remote: Path, number: int) -> None:
    """The ref of another clone, with messages in a person's name."""
    parts = [b"commit %b\ncommitter e <e@x.invalid> 1 +0000\ndata 9\nClock: 1\n\n" % REF]
    for path, data in map(_forged, range(1, number + 1)):
        parts.append(b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(data), data))
    words = ["git", "fast-import", "--quiet"]
    subprocess.run(words, cwd=remote, input=b"".join(parts), capture_output=True, check=True)


def _forged(number: int) -> tuple[str, bytes]:
    identity = f"{number:012x}"
    message = Message(
        identity, Actor("lead", is_person=True), ("worker-1",), f"Urgent {number}", AT, number,
        CloneId("eeeeeeeeeeee"), kind="request", workflow="review" if number % 2 else "",
    )  # fmt: skip
    return record.path_of(identity), record.render_message(message)
