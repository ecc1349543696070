"""Compaction: settled records leave this clone's tip, and its history keeps them.

Only a clone itself compacts its ref, by one normal commit, so a push stays a fast-forward. State
and ledger do not change; commands about the present read less.
"""

from collections.abc import Sequence

from ghp_agents.core.fields import LARGEST
from ghp_agents.core.ids import count
from ghp_agents.state.git import read, settled, trees
from ghp_agents.state.git.fold import Locked
from ghp_agents.state.join import Settled, leaving
from ghp_agents.state.new_commits import NewCommit, write_commits
from ghp_agents.state.private_repo import StateRepository, heal
from ghp_agents.workspace import Workspace

MOST = 5_000  # records of one compaction: some seconds of work in the background


def compact(
    ws: Workspace, repository: StateRepository, subjects: Sequence[Settled], locked: Locked
) -> int:
    """Take the records of settled subjects off this clone's tip; returns how many.

    Objects come first, then one compare-and-swap: a killed process changes nothing. If another
    process moves the ref meanwhile, nothing happens. Raises GhpError, OSError.
    """
    tips = read.tips(repository)
    own = read.own_tip(repository, tips)
    if own is None:
        return 0
    with repository.objects(largest=LARGEST) as reader:
        ours, *others = trees.paths_of(reader, [tip.oid for tip in tips])
        (commits,) = settled.read_commits(reader, [f"{own.oid}:{settled.PATH}"])
    if ours is None or None in others:
        return 0  # too many files to know what the other tips have
    elsewhere = {path for paths in others for path in paths or ()}
    left = sorted(leaving(subjects, ours.keys(), elsewhere, MOST))
    if not left:
        return 0
    now = ws.clock.now()
    kept = tuple((path, ours[path]) for path in left)
    records = NewCommit("settled records\n", {}, None, now, kept=kept)
    stored = write_commits(repository, None, [records], now)
    message = (
        f"{settled.SUBJECT}{count(len(left), 'settled record')}\n\n"
        f"Clock: {own.clock}\nClone: {repository.clone}\n"
    )
    named = {settled.PATH: settled.encode([*commits, stored])}
    commit = NewCommit(message, named, None, now, (stored,), left_out=tuple(left))
    created = write_commits(repository, own.oid, [commit], now)
    with locked() as held:
        heal(repository, repository.ref, held)
        return len(left) if repository.point(repository.ref, created, own.oid, held) else 0
