"""The branches of the user's own repository on its remote: looked at, fetched, pushed, deleted.

What is pushed is always compared with what was seen. Nothing is ever forced onto the trunk.
"""

from collections.abc import Sequence
from pathlib import Path

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.git import process as git
from ghp_agents.git import worktree_admin
from ghp_agents.settings import consent
from ghp_agents.state import git_credentials
from ghp_agents.state.private_repo import first_error
from ghp_agents.state.remote import (
    Pushed,
    PushOutcome,
    Remote,
    coordination_remote,
    understand,
    unreachable,
)
from ghp_agents.workspace import Workspace

HEADS = "refs/heads/"
ATTEMPTS = 4  # each after the first because another process of this clone fetched, too


def where(ws: Workspace) -> Remote | None:
    """The remote that branches go to; None: they stay in this clone. Raises RefusedError where
    nobody agreed to the one that is configured: work must not go elsewhere meanwhile."""
    settings = ws.settings
    if "remote" in settings.unagreed:
        what, hint = consent.sentence("remote", settings.unagreed["remote"], settings.trunk_place)
        raise RefusedError(what, hint=hint)
    return coordination_remote(ws)


def tips(ws: Workspace, *names: str) -> dict[str, str]:
    """The present commits of those of the branches `names` that are there: on the remote, fetched
    to where git keeps them, or without one in this clone. Raises UnknownError."""
    remote = where(ws)
    if remote is None:
        known = worktree_admin.branches(ws.folder)
        return {name: known[name] for name in names if name in known}
    there = {name: oid for name, oid in matching(ws, names).items() if name in names}
    lacking = [name for name in there if not _have(ws.folder, remote, name, there[name])]
    if lacking:
        _fetch(ws, remote, lacking)
        for name in lacking:
            there[name] = worktree_admin.tip(ws.folder, tracking(remote, name)) or there[name]
    return there


def matching(ws: Workspace, patterns: Sequence[str]) -> dict[str, str]:
    """The branches on the remote that fit patterns as `agent/*/12-*`, with their commits; without
    a remote none: those of this clone are known. Raises UnknownError."""
    remote = where(ws)
    if remote is None or not patterns:
        return {}
    refs = [HEADS + pattern for pattern in patterns]
    done = _talk(ws, remote, ["ls-remote", "--refs", remote.name, *refs])
    if done.code != 0:
        raise unreachable(remote, first_error(done))
    pairs = (line.split("\t", 1) for line in done.text.splitlines() if "\t" in line)
    return {ref.removeprefix(HEADS): oid for oid, ref in pairs if ref.startswith(HEADS)}


def address(ws: Workspace) -> str | None:
    """The address of the remote; None without one."""
    remote = coordination_remote(ws)
    return ws.remotes.get(remote.name) if remote else None


def known_tip(ws: Workspace, name: str) -> str:
    """The commit of a branch as it was last seen, without asking anybody; empty if it never was."""
    remote = where(ws)
    ref = tracking(remote, name) if remote else HEADS + name
    return worktree_admin.tip(ws.folder, ref)


def tracking(remote: Remote, name: str) -> str:
    """Where git keeps what it fetched of a branch."""
    return f"refs/remotes/{remote.name}/{name}"


def push(ws: Workspace, commit: str, name: str, *, expected: str | None) -> Pushed:
    """Let the branch be at `commit` if it still is at `expected` (empty: if it is not there); with
    None only forward, whatever it is at."""
    remote = where(ws)
    if remote is None:
        return _update(ws.folder, commit, name, expected)
    lease = [] if expected is None else [f"--force-with-lease={HEADS}{name}:{expected}"]
    return _push(ws, remote, [*lease, remote.name, f"{commit}:{HEADS}{name}"])


def delete(ws: Workspace, name: str, *, expected: str) -> Pushed:
    """Delete the branch on the remote if it still is at `expected`."""
    remote = where(ws)
    if remote is None:
        return Pushed(PushOutcome.DONE)
    lease = f"--force-with-lease={HEADS}{name}:{expected}"
    return _push(ws, remote, [lease, remote.name, f":{HEADS}{name}"])


def _update(folder: Path, commit: str, name: str, expected: str | None) -> Pushed:
    """Without a remote the branch of this clone is the branch; who has it checked out moved it."""
    if worktree_admin.tip(folder, HEADS + name) == commit:
        return Pushed(PushOutcome.DONE)
    old = [] if expected is None else [expected or "0" * len(commit)]
    done = git.run(["update-ref", HEADS + name, commit, *old], cwd=folder)
    return (
        Pushed(PushOutcome.DONE) if done.code == 0 else Pushed(PushOutcome.MOVED, first_error(done))
    )


def _have(folder: Path, remote: Remote, name: str, commit: str) -> bool:
    return worktree_admin.tip(folder, tracking(remote, name)) == commit


def _fetch(ws: Workspace, remote: Remote, names: Sequence[str]) -> None:
    refspecs = [f"+{HEADS}{name}:{tracking(remote, name)}" for name in names]
    flags = ["--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--refmap="]
    args = ["fetch", *flags, "--recurse-submodules=no", "-q", remote.name, *refspecs]
    for _ in range(ATTEMPTS):
        done = _talk(ws, remote, args)
        if done.code == 0:
            return
        if "cannot lock ref" not in done.err:
            break
    raise unreachable(remote, first_error(done))


def _push(ws: Workspace, remote: Remote, args: Sequence[str]) -> Pushed:
    flags = ["--porcelain", "--no-verify", "--no-signed", "--recurse-submodules=no"]
    try:
        done = _talk(ws, remote, ["push", *flags, *args])
    except UnknownError as error:
        return Pushed(PushOutcome.UNKNOWN, str(error))
    return understand(done)


def _talk(ws: Workspace, remote: Remote, args: Sequence[str]) -> git.Result:
    """Run git to talk to the remote, with the person's addresses and credentials, and without the
    settings that are meant for their own fetches and pushes."""
    own = f"remote.{remote.name}"
    settings = (
        *(f"{own}.mirror=false", f"{own}.prune=false", f"{own}.tagOpt=--no-tags"),
        *("push.pushOption=", "push.followTags=false", "http.lowSpeedLimit=1000"),
        f"http.lowSpeedTime={max(1, int(ws.settings.timeout))}",
    )
    flags = [word for setting in settings for word in ("-c", setting)]
    env = git_credentials.for_remote(ws, remote.name)
    try:
        return git.run([*flags, *args], cwd=_home(ws), timeout=10 * ws.settings.timeout, env=env)
    except git.GitTimeoutError as error:
        raise unreachable(remote, str(error)) from None


def _home(ws: Workspace) -> Path:
    """Where relative addresses of remotes count from: the main worktree."""
    main = ws.main_worktree
    return main if main is not None and main.is_dir() else ws.folder


def identity(ws: Workspace, name: str) -> dict[str, str]:
    """What git needs to know for a commit, where it knows no user: the commit is of `name`."""
    if git.config(ws.folder, "user.name") and git.config(ws.folder, "user.email"):
        return {}
    return {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", name), ("EMAIL", "ghp-agents@invalid"))
    }
