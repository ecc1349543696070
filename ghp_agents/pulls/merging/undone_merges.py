"""Merged pull requests that the default branch has no more, because somebody rewrote it.

Looked for where main moved, to a commit that does not follow the last one. Nobody is refused: the
work is only on no branch, and git deletes it after some weeks.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.core.finding import Finding, warning
from ghp_agents.core.ids import count, listed
from ghp_agents.core.json_file import JsonFile
from ghp_agents.git import process as git
from ghp_agents.git import worktree
from ghp_agents.hotpath.quoting import phrase
from ghp_agents.ports import Context
from ghp_agents.pulls import local_pulls
from ghp_agents.pulls.pull import Pull
from ghp_agents.state.default_branch import trunk
from ghp_agents.state.known_branches import main_commit, where

CODE = "undone-merge"  # of the doctor's check
FILE = "undone-merges.json"  # in the folder of caches
SHOWN_S = 7 * 86_400.0  # seconds that one is shown
SHOWN = 5  # pull requests that are named
MOST = 20  # that are looked at, the newest


class UndoneMerge(NamedTuple):
    """A merge that main had once."""

    pull: int
    commit: str
    title: str
    seen: float  # seconds; when it was missed first


class _Seen(NamedTuple):
    tip: str = ""  # of main, at the last look
    merges: tuple[UndoneMerge, ...] = ()


def find(ctx: Context) -> list[UndoneMerge]:
    """What was missed first within a week. Git is started only if main moved. Raises GhpError."""
    pulls = local_pulls.read_present(ctx.store.snapshot())
    merged = [entry.pull for entry in pulls if entry.pull.merged_as]
    if not merged:
        return []
    ws, file = ctx.ws, JsonFile(ctx.ws.cache_dir / FILE, _decode, _Seen)
    before, now, tip = file.read(), ws.clock.now(), main_commit(ws)
    merges = before.merges
    if tip and tip != before.tip:
        last = [pull for pull in merged if pull.base == trunk(ws)][-MOST:]
        follows = bool(before.tip) and worktree.contains(ws.folder, tip, before.tip)
        looked = {m.commit: m for m in merges}
        wanted = [pull for pull in last if not follows or pull.merged_as in looked]
        merges = tuple(
            looked.get(commit, UndoneMerge(pull.number, commit, pull.title, now))
            for pull, commit in _undone(ctx, wanted, tip)
        )
        file.write([tip, [list(merge) for merge in merges]])
    return [merge for merge in merges if merge.seen >= now - SHOWN_S]


def _undone(ctx: Context, pulls: list[Pull], tip: str) -> Iterator[tuple[Pull, str]]:
    """Those whose merge `tip` lacks, with its commit. A merge that this clone never had is unknown;
    one whose files main has all the same was only written again."""
    commits = [pull.merged_as for pull in pulls if pull.merged_as]
    gone = worktree.beside(ctx.ws.folder, commits, tip) if commits else frozenset[str]()
    for pull in pulls:
        commit = pull.merged_as or ""
        if commit in gone and not _has_content(ctx, commit, tip):
            yield pull, commit


def _has_content(ctx: Context, commit: str, tip: str) -> bool:
    """Whether the files that a merge changed are the same in `tip`."""
    changed = git.run(["diff", "--name-only", "-z", f"{commit}^", commit, "--"], cwd=ctx.ws.folder)
    same = ["--literal-pathspecs", "diff", "--quiet", commit, tip, "--", *changed.names]
    return bool(changed.names) and git.run(same, cwd=ctx.ws.folder).code == 0


def warnings(ctx: Context) -> Iterator[tuple[str, str]]:
    """What a person should know, and what to do; nothing where git cannot tell."""
    try:
        merges = find(ctx)
    except GhpError:  # for example, nobody agreed to the remote; other lines say that
        return
    if not merges:
        return
    names = listed([f"#{m.pull} {phrase(m.title)} ({m.commit[:12]})" for m in merges], SHOWN)
    first, remote = merges[-1], where(ctx.ws)
    saves = (
        f"git push {remote.name} {first.commit}:refs/heads/restore-{first.pull}"
        if remote
        else f"git branch restore-{first.pull} {first.commit}"
    )
    yield (
        "The default branch was rewritten. It no longer contains "
        f"{count(len(merges), 'merged pull request')}: {names}.",
        f"To keep the newest: `{saves}`. If you intended this, do nothing.",
    )


def check(ctx: Context) -> Iterator[Finding]:
    """The doctor's check."""
    yield from (warning(CODE, *words) for words in warnings(ctx))


def _decode(data: Any) -> _Seen:
    tip, merges = data
    return _Seen(
        str(tip),
        tuple(UndoneMerge(int(n), str(oid), str(title), float(at)) for n, oid, title, at in merges),
    )
