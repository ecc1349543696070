"""Work that agents left behind in their worktrees of this clone, made after `agent-finish` or after
their claims ended.

Nothing else has it, so it stays listed until it is saved, committed and sent, or gone. What counts
is what keeps a worktree from its removal.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.core.file_names import plain
from ghp_agents.core.finding import Finding, warning
from ghp_agents.core.ids import count, listed
from ghp_agents.git import changed_paths, own_work, worktree
from ghp_agents.git.own_work import InnerRepository
from ghp_agents.handoffs import for_dead_agent, left_work, record, uncommitted
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.handoffs.left_work import AgentPlace
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.hotpath.quoting import path_word
from ghp_agents.ports import Context, Snapshot
from ghp_agents.pulls.local_pulls import read_present
from ghp_agents.pulls.pull import Pull
from ghp_agents.state.cause import CLOSED, MERGED
from ghp_agents.state.coordination import coordination_remote
from ghp_agents.state.known_branches import known_tip, main_commit
from ghp_agents.state.presence import issue_of, number
from ghp_agents.workspace import MYSELF, Workspace, open_workspace
from ghp_agents.worktrees import removal

SHOWN = 5  # files that are named
OVER = (MERGED, CLOSED)  # nobody continues the issue, so nobody reads a handoff of it


class LeftBehind(NamedTuple):
    """What is left in a worktree; `pull` is the open pull request that does not have it."""

    agent: str
    issue: int
    folder: Path
    pull: int | None
    over: str = ""  # what became of its issue, if no pull request waits
    files: tuple[str, ...] = ()  # not committed
    commit: str = ""  # the newest one that no branch has
    unsent: int = 0  # commits of the branch that the pull request, or main, does not have
    copy: str = ""  # the handoff in which this clone stored all of it
    branch: str = ""
    remote: str = ""
    at: str = ""  # when the claim began or ended
    inner: tuple[str, ...] = ()  # repositories in it that have work of their own; no handoff has it
    stashes: int = 0  # of its branch, in this clone

    @property
    def amount(self) -> str:
        """How much it is, in a few words."""
        commits = self.unsent + bool(self.commit)
        parts = [count(len(self.files), "file") if self.files else "",
                 count(commits, "commit") if commits else "",
                 f"{count(len(self.inner), 'repository')} in it" if self.inner else "",
                 count(self.stashes, "stash") if self.stashes else ""]  # fmt: skip
        return " and ".join(filter(None, parts))

    @property
    def details(self) -> str:
        """The files and commits, and where they are not."""
        names = [listed([*map(plain, self.files)], SHOWN)] if self.files else []
        names += [f"commit {self.commit[:12]}, which no branch has"] if self.commit else []
        names += [f"on {self.branch}"] if self.unsent else []
        names += [f"{listed([*map(plain, self.inner)], SHOWN)}, which no handoff stores"
                  ] if self.inner else []  # fmt: skip
        names += ["a stash stays in this clone"] if self.stashes else []
        where = f"not in #{self.pull}" if self.pull else self.over
        copy = f"; {self.copy} has a copy" if self.copy else ""
        return f"{', '.join(names)}: {where}{copy}"

    @property
    def words(self) -> str:
        """The whole, in a sentence."""
        does = "saves" if self.files or self.commit or self.unsent or self.inner else "shows"
        return f"{self.agent} left {self.amount} ({self.details}): `{self.command}` {does} that"

    @property
    def command(self) -> str:
        """What saves it, in any worktree of this clone."""
        if self.files:
            return save_files(self.agent, self.issue)
        if self.commit:
            return f"git branch {self.agent}-{self.issue}-{self.commit[:7]} {self.commit[:12]}"
        if self.unsent and self.pull:
            return f"cd {quote(str(self.folder))} && ghp agent-finish"
        if self.inner:
            place = quote(str(self.folder / self.inner[0]))
            return f"cd {place} && git add --all && git commit && git push"
        if not self.unsent:
            return "git stash list"
        if self.remote:
            return f"git push {quote(self.remote)} {quote(self.branch)}"
        return f"ghp agent-issue reopen {self.issue}"


def save_files(agent: str, issue: int) -> str:
    """The command that saves the uncommitted files of an agent's worktree."""
    return f"ghp agent-handoff --issue {issue} --as {agent}"


def check(ctx: Context) -> Iterator[Finding]:
    """Report files and commits that only a worktree has, though its agent has finished."""
    for left in find(ctx, ctx.store.snapshot()):
        text = f"{left.agent} left {left.amount} in {path_word(str(left.folder))}: {left.details}."
        yield warning("left-work", text, f"Save it: {left.command}")


def find(ctx: Context, snapshot: Snapshot) -> list[LeftBehind]:
    """What agents left behind in this clone, by worktree. It starts git in the worktrees of those
    that have finished."""
    pulls = _local_pulls(snapshot)
    try:
        places = [*left_work.agent_places(ctx)]
    except GhpError:
        return []
    return [*_left(ctx, snapshot, places, pulls)]


def _left(
    ctx: Context, snapshot: Snapshot, places: Collection[AgentPlace], pulls: Mapping[str, Pull]
) -> Iterator[LeftBehind]:
    for place in places:
        pull = pulls.get(place.branch)
        opened = _open_pull(ctx, place, pull)
        if place.lock.holder is None or (place.is_held() and opened):
            try:
                left = _look(ctx, snapshot, place, opened, pull)
            except (GhpError, OSError):  # removed meanwhile, or broken: the doctor reports that
                continue
            if left.amount:
                yield left


def _local_pulls(snapshot: Snapshot) -> dict[str, Pull]:
    """The pull requests that the state has, by branch: the open one, else the newest."""
    pulls = [entry.pull for entry in read_present(snapshot)]
    return {pull.branch: pull for pull in sorted(pulls, key=lambda x: x.state == "open")}


def _open_pull(ctx: Context, place: AgentPlace, pull: Pull | None) -> int | None:
    """The pull request that waits with an agent's finished work."""
    if pull is not None:
        return pull.number if pull.state == "open" and not pull.draft else None
    reported = ctx.ws.presence(place.agent) or {}
    is_of_issue = issue_of(reported) == place.issue
    return (number(reported, "pull") or None) if is_of_issue else None


def _look(
    ctx: Context, snapshot: Snapshot, place: AgentPlace, opened: int | None, pull: Pull | None
) -> LeftBehind:
    theirs = open_workspace(place.folder, ctx.ws.environ, ctx.ws.clock, MYSELF)
    own = removal.work_in(ctx.ws, place.folder, theirs.git_dir)
    handoffs = record.read_handoffs(snapshot.files(record.folder_of(place.issue)))[0]
    # Where somebody continues the issue, what this clone stored by itself reaches them.
    goes_on = place.lock.holder is None and place.lock.cause.kind not in OVER
    saved = [x for x in handoffs if goes_on or not for_dead_agent.is_of_worktree(x)]
    inner = tuple(x for x in own.files if _has_work(theirs, place.folder / x))
    other = [x for x in own.files if x not in inner and not x.endswith("/")]
    files, copies = _not_in_main(theirs, other), list[Handoff]()
    if files:
        work = uncommitted.take_uncommitted(theirs, place.agent)
        lost = {item.path for item in work.missing}
        copies = [x for x in handoffs if for_dead_agent.has_work([x], work)]
        if any(x in saved for x in copies):
            files, copies = tuple(x for x in files if plain(x) in lost), []
        elif not lost.isdisjoint(map(plain, files)):
            copies = []  # not of all
    packed = [x for x in handoffs if x.commits and own.commit and x.head == own.commit]
    commit = "" if any(x in saved for x in packed) else own.commit
    unsent = 0
    if theirs.branch and not goes_on:
        head = worktree.head(place.folder)
        stored = [x for x in handoffs if x.commits and x.head == head]
        packed = packed or stored
        base = (pull.head if pull else "") or known_tip(theirs, theirs.branch)
        # A branch that was never sent has its commits for itself if this clone had to store them.
        base = base or (main_commit(theirs) if stored else "")
        if base and (opened or not (any(x in saved for x in stored) or _is_sent(theirs, head))):
            unsent = _beyond(theirs, base, head)
    is_copied = (copies or not files) and (packed or not (commit or unsent)) and not inner
    copy = next((x.name for x in reversed([*packed, *copies]) if is_copied), "")
    remote = coordination_remote(ctx.ws)
    return LeftBehind(
        place.agent, place.issue, place.folder, opened, _what_ended(place), files, commit, unsent,
        copy, place.branch, remote.name if remote else "", str(place.lock.acquired_at),
        tuple(x.rstrip("/") for x in inner),
        own_work.stashes(ctx.ws.common_dir, place.branch),
    )  # fmt: skip


def _has_work(ws: Workspace, path: Path) -> bool:
    """Whether it is a repository inside of a worktree, with changes, or with commits that none of
    its remotes has."""
    place = walk_up(str(path)) if path.is_dir() and not path.is_symlink() else None
    is_its_own = place and place.toplevel == str(path) and Path(place.common_dir) != ws.common_dir
    if place is None or not is_its_own:
        return False
    try:
        own = InnerRepository(path.name, Path(place.git_dir))
        return bool(changed_paths.in_worktree(path) or own_work.only_here(own))
    except GhpError:
        return True  # nobody can tell


def _not_in_main(theirs: Workspace, files: Sequence[str]) -> tuple[str, ...]:
    """The files whose content the main branch does not have: others may have committed it."""
    main = main_commit(theirs) if files else ""
    same = changed_paths.same_in(theirs.folder, main, files) if main else ()
    return tuple(x for x in files if x not in same)


def _is_sent(theirs: Workspace, head: str) -> bool:
    """Whether a branch of a remote has a commit."""
    return worktree.unsent(theirs.folder, head) == 0


def _beyond(theirs: Workspace, base: str, head: str) -> int:
    """How many commits up to `head` neither `base` nor main has."""
    if head == base or worktree.contains(theirs.folder, base, head):
        return 0
    return worktree.lacking(theirs.folder, base, head, main_commit(theirs), None)


def _what_ended(place: AgentPlace) -> str:
    kind = place.lock.cause.kind
    words = {MERGED: f"#{place.issue} is merged", CLOSED: f"#{place.issue} is closed"}
    return words.get(kind, f"nobody holds #{place.issue}")
