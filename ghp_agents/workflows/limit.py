"""How much of what other clones started is done in one sync, so that no flood holds a clone up."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.ids import CloneId, count
from ghp_agents.core.json_file import object_file
from ghp_agents.messages import record
from ghp_agents.ports import Context, Snapshot
from ghp_agents.workflows import engine
from ghp_agents.workflows.engine import Action
from ghp_agents.workflows.progress import WorkflowRun

MOST_ACTIONS = 10  # in one sync, of workflows that one other clone started
MOST_RUNNING = 50  # workflows of one other clone; further ones wait until some have ended
FILE = "workflows-left.json"
Pending = Sequence[tuple[WorkflowRun, Action]]


class Limited(NamedTuple):
    """What is done now, and how many workflows of each clone wait."""

    now: Pending
    waiting: Mapping[CloneId, int] = {}


def choose(snapshot: Snapshot, runs: Sequence[WorkflowRun], pending: Pending) -> Limited:
    """The actions of one sync, the oldest first. A message can name any sender and any clone, so
    the ref that it is on counts. What this clone started is not limited."""
    begun = [run for run in runs if _has_begun(run)]
    if len(pending) <= MOST_ACTIONS and len(begun) <= MOST_RUNNING:
        return Limited(pending)
    writers = snapshot.writers(record.FOLDER)

    def writer(run: WorkflowRun) -> CloneId:
        clones = writers.get(record.path_of(run.start.id), frozenset())
        return snapshot.clone if snapshot.clone in clones else min(clones, default=CloneId(""))

    running = Counter(writer(run) for run in begun)
    done: Counter[CloneId] = Counter()
    left: dict[str, CloneId] = {}
    now: list[tuple[WorkflowRun, Action]] = []
    for run, action in pending:
        clone = writer(run)
        is_new = not _has_begun(run)
        is_full = done[clone] >= MOST_ACTIONS or (is_new and running[clone] >= MOST_RUNNING)
        if is_full and clone != snapshot.clone:
            left[run.start.id] = clone
            continue
        done[clone] += 1
        running[clone] += is_new
        now.append((run, action))
    return Limited(now, Counter(left.values()))


def _has_begun(run: WorkflowRun) -> bool:
    """Whether a step was sent or asked, and the workflow goes on."""
    sent = (x.question or (x.letter and x.letter.message != run.start) for x in run.facts.values())
    return any(sent) and run.standing == engine.RUNNING


def notes(ctx: Context, waiting: Mapping[CloneId, int]) -> list[str]:
    """Say of each clone once that workflows of it wait, until none does."""
    file = object_file(Path(ctx.ws.cache_dir, FILE))
    before = file.read()
    if waiting or before:
        file.write(dict(waiting))
    return [
        f"{count(number, 'workflow')} that clone {clone} started must wait: a sync does at most "
        f"{MOST_ACTIONS} steps for one clone, and {MOST_RUNNING} of its workflows run at a time."
        for clone, number in waiting.items()
        if clone not in before
    ]
