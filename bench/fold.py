"""One fold of a hundred changed agents and a hundred records that wait, against one bare
`git fast-import` of the very objects that the fold made. Each round has copies of a clone."""

import shutil
import subprocess
from itertools import count
from pathlib import Path

from bench.figure import Figure
from bench.place import Place, git, open_app
from bench.timing import interleave, ratio, took
from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, Timestamp, agent_name
from ghp_agents.hotpath import heartbeat
from ghp_agents.state.git import outbox
from ghp_agents.state.record import Record

FIVE_IMPORTS = 5.0
AGENTS = RECORDS = 100
QUESTION = """\
---
schemaVersion: 1
id: E-{number:04d}
issue: {number}
urgency: normal
---

# Which of the two layouts?

The dashboard can show {number} agents in one column or in two. One column is easier to read on a
phone; two fit a screen. I have built the first and can build the second within the hour.

## Options

1. One column
2. Two columns
"""


def measure(place: Place) -> list[Figure]:
    """A fold against the bare import."""
    before = _prepare(place)
    # Copies must count as the same clone: without this file they are not detected as copies.
    (before / ".git/ghp/state.git/ghp-place").unlink(missing_ok=True)
    after = shutil.copytree(before, before.parent / "after", symlinks=True)
    commits = open_app(after).store.fold()
    stream = before.parent / "stream"
    objects = _export(before, after, stream)
    numbers = count()

    def copy() -> Path:
        path = before.parent / f"copy-{next(numbers)}"
        return shutil.copytree(before, path, symlinks=True)

    def fold() -> float:
        path = copy()
        taken = took(lambda: open_app(path).store.fold())
        _check(path, after)
        shutil.rmtree(path)
        return taken

    def bare_import() -> float:
        path = copy()
        taken = took(lambda: _import(path / ".git/ghp/state.git", stream))
        _check(path, after)
        shutil.rmtree(path)
        return taken

    times = interleave({"fold": fold, "import": bare_import}, 2 if place.quick else 15)
    name = f"{AGENTS} agents and {RECORDS} records: {commits} commits, {objects} objects"
    return [ratio("fold", name, times["fold"], times["import"], "× fast-import", FIVE_IMPORTS)]


def _prepare(place: Place) -> Path:
    """A clone that has folded once, with as much to fold again."""
    clone = place.repository("fold")
    ws = open_app(clone).ws
    names = [f"worker-{number + 1}" for number in range(AGENTS)]
    for name in names:
        heartbeat.beat(ws.folders, name, heartbeat.surroundings(ws.place), ws.clock.now(), epoch=1)
    open_app(clone).store.fold()
    for name in names:
        fields = {"status": "testing", "lastAction": f"Ran the tests of {name}"}
        heartbeat.beat(ws.folders, name, fields, ws.clock.now())
    at = Timestamp(to_text(ws.clock.now()))
    outbox.put(ws, [_record(number, at) for number in range(RECORDS)], OSError("no cause"))
    return clone


def _record(number: int, at: Timestamp) -> Record:
    path = f".ghp/escalations/E-{number:04d}.md"
    content = QUESTION.format(number=number).encode()
    return Record(
        event="escalate",
        actor=Actor(agent_name(f"worker-{number + 1}")),
        object=f"E-{number:04d}",
        id=f"E-{number:04d}",
        at=at,
        clock=number + 2,
        files=((path, content),),
        issue=number + 1,
        text="Which of the two layouts?",
    )


def _export(before: Path, after: Path, stream: Path) -> int:
    """Write what the fold added as a stream for `git fast-import`; the number of objects."""
    repository = after / ".git/ghp/state.git"
    ref = git(repository, "for-each-ref", "--format=%(refname)", "refs/ghp/clone")
    base = git(before / ".git/ghp/state.git", "rev-parse", ref)
    export = ["fast-export", "--use-done-feature", "--reference-excluded-parents"]
    with stream.open("wb") as out:
        subprocess.run(["git", *export, f"{base}..{ref}"], cwd=repository, stdout=out, check=True)
    listed = git(repository, "rev-list", "--objects", f"{base}..{ref}")
    return len(listed.splitlines())


def _import(repository: Path, stream: Path) -> None:
    with stream.open("rb") as given:
        command = ["git", "--git-dir", str(repository), "fast-import", "--quiet", "--done"]
        subprocess.run(command, stdin=given, check=True)


def _check(first: Path, second: Path) -> None:
    """Check that both have the same tree, else the comparison is invalid."""
    trees = []
    for clone in (first, second):
        repository = clone / ".git/ghp/state.git"
        ref = git(repository, "for-each-ref", "--format=%(refname)", "refs/ghp/clone")
        trees.append(git(repository, "rev-parse", f"{ref}^{{tree}}"))
    if trees[0] != trees[1]:
        raise RuntimeError("the fold and the bare import came to different trees")
