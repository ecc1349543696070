"""Check a change against the policy: staged files, a branch, or paths."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.errors import NotSetUpError, UnknownError, UsageError
from ghp_agents.core.ids import AgentName, agent_name, issue_of_branch, one_line
from ghp_agents.git import changed_paths, gitlinks
from ghp_agents.git.changed_paths import Signed
from ghp_agents.guard import evaluate
from ghp_agents.hotpath import heartbeat, own_name
from ghp_agents.hotpath.policy import Verdict
from ghp_agents.hotpath.quoting import file, named
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import Context, StateStore
from ghp_agents.workspace import MYSELF, Workspace

BRANCH = "agent"  # agent/<name>/<number>-<words>
HEAD_REF = "GITHUB_HEAD_REF"  # the branch of a pull request, where its merge is checked out


class ForeignCommitter(NamedTuple):
    """A commit by an agent that never held the claim of the branch's issue."""

    commit: Signed
    agent: str
    why: str
    next: str


class CheckResult(NamedTuple):
    """The result of a check."""

    who: AgentName | None  # None: a person
    verdicts: tuple[Verdict, ...]
    strangers: tuple[ForeignCommitter, ...] = ()
    people: tuple[Signed, ...] = ()  # commits by people, which are reported
    commits: int = 0  # number of checked commits
    note: str = ""  # for people: how reliable the result is

    @property
    def refused(self) -> list[Verdict]:
        """The paths that must not be changed now."""
        return [verdict for verdict in self.verdicts if verdict.is_refused]

    @property
    def warnings(self) -> list[Verdict]:
        """The verdicts that a person should know of."""
        return [x for x in self.verdicts if x.why and not x.is_refused]


def check_staged(ctx: Context, environ: Mapping[str, str], cwd: Path) -> CheckResult:
    """Check what would be committed. In a hook of a partial commit, git sets the index to use.
    Raises GhpError."""
    name, folder = environ.get("GIT_INDEX_FILE"), top(ctx.ws)
    index = str(cwd / name) if name else None
    checked = check(ctx, changed_paths.staged(folder, index))
    nested = [_nested(checked.who, path) for path in gitlinks.staged(folder, index)]
    return checked._replace(verdicts=(*checked.verdicts, *nested))


def _nested(who: AgentName | None, path: str) -> Verdict:
    """The verdict on a repository that `git add` took for a submodule; a person is warned."""
    why = f"{file(path)} is a repository of its own, maybe a worktree, and no submodule."
    advice = f"`git rm --cached {file(path)}`, and add it to .gitignore."
    return Verdict("deny" if who else "allow", path, kind="repository", why=why, next=advice)


def chosen(ws: Workspace, words: Sequence[str], cwd: Path) -> list[str]:
    """The named files, and those in the named folders; without words, all files that differ from
    the last commit. Raises UsageError."""
    folder = top(ws)
    if not words:
        return changed_paths.in_worktree(folder)
    files: dict[str, None] = {}
    for path in changed_paths.from_root(str(folder), cwd, words):
        place = folder / path
        is_folder = place.is_dir() and not place.is_symlink()
        files |= dict.fromkeys(changed_paths.below(folder, path) if is_folder else [path])
    return list(files)


def top(ws: Workspace) -> Path:
    """The top of the worktree. Raises NotSetUpError in a bare repository."""
    if ws.place.toplevel is None:
        raise NotSetUpError(
            "This repository has no worktree, so there are no edits to check.",
            hint="Change to a worktree; `git worktree list` shows them.",
        )
    return Path(ws.place.toplevel)


def whoever_is_here(ws: Workspace) -> AgentName | None:
    """The current agent; None for a person."""
    name = ws.chosen_name or own_name.whoami(ws.place, ws.environ)
    return agent_name(name) if name and name != MYSELF else None


def of_branch(ws: Workspace, branch: str | None) -> AgentName | None:
    """The agent of a branch `agent/<name>/…`, unless one is chosen; else the current agent."""
    parts = (branch or "").split("/")
    if not ws.chosen_name and parts[0] == BRANCH and len(parts) > 2 and heartbeat.is_name(parts[1]):
        return AgentName(parts[1])
    return whoever_is_here(ws)


def branch_of(ws: Workspace) -> str | None:
    """The branch to check. A workflow that checks out a merge sets it in the environment."""
    return ws.branch or ws.environ.get(HEAD_REF)


def check(ctx: Context, paths: Sequence[str]) -> CheckResult:
    """Check changes to these paths by the current actor. Raises GhpError."""
    who = whoever_is_here(ctx.ws)
    return CheckResult(who, tuple(evaluate.judge(ctx, who, paths)))


def check_branch(
    ctx: Context, ref: str, *, commits: bool = False, issue: int | None = None
) -> CheckResult:
    """Check all changes from `ref` to HEAD; with `commits` also the authors of the commits.

    Fetches first: a fresh clone knows nothing. Raises UnknownError, UsageError.
    """
    folder = top(ctx.ws)
    base = changed_paths.fork_point(folder, ref)
    note = _fetch_state(ctx.store)
    branch = branch_of(ctx.ws)
    who = of_branch(ctx.ws, branch)
    paths = changed_paths.differing(folder, base, "HEAD")
    verdicts = evaluate.judge(ctx, who, paths)
    checked = CheckResult(who, tuple(verdicts), note=note)
    if not commits:
        return checked
    number = issue or (issue_of_branch(branch) if branch else None)
    if number is None:
        raise UsageError(
            f"Cannot tell which issue branch {one_line(branch or '(none)', 60)} belongs to.",
            hint="Use --issue 12. Agent branches are named like agent/worker-1/12-words.",
        )
    signed = changed_paths.commits_since(folder, base)
    strangers, people = _strangers(ctx, signed, number)
    return checked._replace(strangers=strangers, people=people, commits=len(signed))


def _fetch_state(store: StateStore) -> str:
    """Fetch the state; return a note if that failed and only the known state can be used."""
    report = store.sync(push=False)
    if not report.remote or report.fetched:
        return ""
    if store.news_at() is None:
        raise UnknownError(
            f"This clone has never synced with {report.remote}, which does not answer: "
            f"{report.trouble}.",
            hint="Try again when it is reachable; `ghp agent-doctor` tests the connection.",
        )
    return f"{report.remote} does not answer ({report.trouble}); using its last known state."


def _strangers(
    ctx: Context, commits: Sequence[Signed], issue: int
) -> tuple[tuple[ForeignCommitter, ...], tuple[Signed, ...]]:
    """The commits by agents that never held the claim, and those by people."""
    held = [x.holder for x in ctx.locks.history(claim_name(issue)) if x.holder and not x.is_person]
    agents = {*held, *ctx.store.snapshot().agents()}
    strangers: list[ForeignCommitter] = []
    people: list[Signed] = []
    for commit in commits:
        named = commit.agents or tuple(name for name in (commit.author,) if name in agents)
        if not named:
            people.append(commit)
        strangers += [_stranger(commit, name, issue, held) for name in named if name not in held]
    return tuple(strangers), tuple(people)


def _stranger(commit: Signed, name: str, issue: int, held: Sequence[str]) -> ForeignCommitter:
    holders = ", ".join(map(named, dict.fromkeys(held))) or "nobody"
    shown = named(os.fsencode(name).decode("utf-8", "replace"))
    why = f"{commit.oid[:12]} is by {shown}, which never claimed #{issue} ({holders} did)."
    hint = f"Claim #{issue} before you work on it, or name its holder in the trailer `Agent:`."
    return ForeignCommitter(commit, shown, why, hint)
