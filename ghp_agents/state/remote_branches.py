"""The branches of the user's repository on its remote: list, fetch, push, delete.

Every push compares with the commit last seen. The default branch is never force-pushed.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from ghp_agents.core import progress, trace
from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import count, listed, one_line
from ghp_agents.core.remote_url import masked
from ghp_agents.git import large_files, silence, worktree, worktree_admin
from ghp_agents.git import process as git
from ghp_agents.git.refs import SYMBOLIC
from ghp_agents.hotpath.quoting import file
from ghp_agents.state import git_credentials
from ghp_agents.state.coordination import Remote, coordination_remote
from ghp_agents.state.default_branch import trunk
from ghp_agents.state.known_branches import HEADS as HEADS
from ghp_agents.state.known_branches import known_tip as known_tip
from ghp_agents.state.known_branches import tracking
from ghp_agents.state.known_branches import where as where
from ghp_agents.state.refusal import first_error
from ghp_agents.state.remote import (
    Pushed,
    PushOutcome,
    asked,
    plain_settings,
    understand,
    unreachable,
)
from ghp_agents.workspace import Workspace

_FETCH_FLAGS = (
    *("--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--refmap="),
    *("--recurse-submodules=no", "-q"),
)
HEAD = "HEAD"  # of a remote: a name for its default branch
DEPTHS = (100, 1_000, 10_000, 0)  # commits that a shallow clone fetches in addition; 0: all
AT_ONCE = 200  # large files that one call of Git LFS sends
LISTED = 5  # branches that are named
TRANSFER = 10  # times the seconds of an exchange: branches may be large
ATTEMPTS = 4  # retried only if another process of this clone fetched, too


def tips(ws: Workspace, *names: str) -> dict[str, str]:
    """The current commits of the existing branches among `names`: on the remote, fetched to the
    tracking refs, or in this clone if there is no remote. Raises UnknownError."""
    remote = where(ws)
    if remote is None:
        local = worktree_admin.branches(ws.folder)
        return {name: local[name] for name in names if name in local}
    existing = {name: oid for name, oid in matching(ws, names).items() if name in names}
    lacking = [
        name for name in existing if not _has_commit(ws.folder, remote, name, existing[name])
    ]
    if lacking:
        _fetch(ws, remote, lacking)
        for name in lacking:
            existing[name] = worktree_admin.tip(ws.folder, tracking(remote, name)) or existing[name]
    return existing


def matching(ws: Workspace, patterns: Sequence[str]) -> dict[str, str]:
    """The branches on the remote that match patterns like `agent/*/12-*`, with their commits; empty
    without a remote. Raises UnknownError."""
    remote = where(ws)
    if remote is None or not patterns:
        return {}
    refs = [HEADS + pattern for pattern in patterns]
    done = _run_remote(ws, remote, ["ls-remote", "--symref", remote.name, HEAD, *refs])
    if done.code != 0:
        raise unreachable(remote, first_error(done))
    pairs = [line.split("\t", 1) for line in done.text.splitlines() if "\t" in line]
    for target, ref in pairs:
        if ref == HEAD and target.startswith(f"{SYMBOLIC}{HEADS}"):
            _follow(ws, remote, target.removeprefix(f"{SYMBOLIC}{HEADS}"))
    if all(ref != HEAD for _, ref in pairs):
        _unfollow(ws, remote)
    return {
        ref.removeprefix(HEADS): oid
        for oid, ref in pairs
        if ref.startswith(HEADS)
        and not ref.endswith(f"/{HEAD}")  # our question after HEAD finds them
    }


def connect(ws: Workspace, base: str, commits: Mapping[str, str]) -> None:
    """In a shallow clone, fetch the history in which the branch `base` and the others of `commits`
    (by branch) meet, and say so. Raises UnknownError."""
    remote, trunk_tip = where(ws), commits.get(base, "")
    if remote is None or not trunk_tip or not (ws.common_dir / "shallow").exists():
        return
    apart = _apart(ws.folder, trunk_tip, commits)
    what = listed([*map(file, apart)], LISTED)
    for depth in DEPTHS if apart else ():
        names = [*matching(ws, [base, *apart])]
        with progress.step(f"fetching the history of {base}"):
            _fetch(ws, remote, names, f"--deepen={depth}" if depth else "--unshallow")
        is_whole = not (ws.common_dir / "shallow").exists()
        if is_whole or not _apart(ws.folder, trunk_tip, commits):
            extent = "all commits" if is_whole else f"{depth:,} more commits"
            trace.note(
                f"This clone is shallow and had no common commit of {file(base)} and {what}, so "
                f"{extent} of each were fetched."
            )
            return


def _apart(folder: Path, base: str, commits: Mapping[str, str]) -> list[str]:
    """The branches that have no common commit with `base` here."""
    args = ["merge-base", base]
    return [name for name in commits if git.run([*args, commits[name]], cwd=folder).code != 0]


def main_branch(ws: Workspace) -> str | None:
    """The default branch. The remote is asked if this clone cannot tell; None if neither can."""
    name = trunk(ws)
    if name is None:
        with suppress(UnknownError):
            matching(ws, [HEAD])
    return name or trunk(ws)


def main_and_tips(
    ws: Workspace, *names: str, fetches: bool = True
) -> tuple[str | None, dict[str, str]]:
    """The default branch as the remote has it now, and `tips` of it and of `names`; without
    `fetches`, their commits need not be here. Raises UnknownError."""
    base, read = main_branch(ws), tips if fetches else _named
    current = read(ws, *filter(None, [base]), *names)
    now = trunk(ws)  # the remote may have just said that it has another one
    return now, current if now == base or not now else read(ws, now, *names)


def _named(ws: Workspace, *names: str) -> dict[str, str]:
    return matching(ws, names)


def _follow(ws: Workspace, remote: Remote, name: str) -> None:
    """Note the remote's default branch as `git fetch` does since 2.48, and say if it was another
    here. A remote's own `followRemoteHEAD` of `never` leaves it as it is."""
    ref = f"refs/remotes/{remote.name}/{HEAD}"
    if worktree.branches(ws.folder).get(ref) == tracking(remote, name):
        return
    key = f"remote.{remote.name}"
    # A bare clone keeps no refs of its remote, and gets none from us.
    if ws.git_value(f"{key}.followremotehead") == "never" or not ws.git_value(f"{key}.fetch"):
        return
    before = trunk(ws)
    if not worktree_admin.tip(ws.folder, tracking(remote, name)):
        _fetch(ws, remote, [name])
    git.run(["symbolic-ref", ref, tracking(remote, name)], cwd=ws.folder)
    if before and trunk(ws) == name != before:
        trace.note(
            f"The default branch of {remote.name} is {file(name)}, not {file(before)}: new work "
            f"begins there and goes there. To keep {file(before)}, name it in `agents.trunk` on "
            f"{file(name)}, and run `ghp agent-trust`."
        )


def _unfollow(ws: Workspace, remote: Remote) -> None:
    """Forget the remote's default branch: its HEAD names a branch that is not there. A new clone
    has none, and each clone must take the same branch. Say if that is another one."""
    ref = f"refs/remotes/{remote.name}/{HEAD}"
    is_kept = ws.git_value(f"remote.{remote.name}.followremotehead") == "never"
    if is_kept or not worktree.branches(ws.folder).get(ref):
        return
    before = trunk(ws)
    git.run(["symbolic-ref", "--delete", ref], cwd=ws.folder)
    now = trunk(ws)
    if before != now:
        then = f"so {file(now)} is it here, as in each clone" if now else "so no clone can tell it"
        trace.note(
            f"HEAD of {remote.name} names a branch that is not there, and {file(before or '')} is "
            f"not its default branch any more, {then}. To choose one, name it in `agents.trunk` "
            "on that branch."
        )


def fetch_aside(ws: Workspace, name: str, env: Mapping[str, str]) -> str:
    """The remote's commit of a branch, fetched into the object folder that `env` names; no ref is
    changed. Empty without a remote or such a branch. Raises UnknownError."""
    remote = where(ws)
    oid = matching(ws, [name]).get(name, "")
    if remote is None or not oid or (ws.common_dir / "shallow").exists():
        return ""
    args = ["fetch", *_FETCH_FLAGS, remote.name, HEADS + name]
    done = _run_remote(ws, remote, args, env)
    if done.code != 0:
        raise unreachable(remote, first_error(done))
    return oid


def address(ws: Workspace) -> str | None:
    """The address of the remote; None if there is none."""
    remote = coordination_remote(ws)
    return ws.remotes.get(remote.name) if remote else None


def refs(ws: Workspace, *names: str) -> list[str]:
    """The full refs in this clone that have the tips of branches, as last fetched."""
    remote = where(ws)
    return [tracking(remote, name) if remote else HEADS + name for name in names]


def push(ws: Workspace, commit: str, name: str, *, expected: str | None) -> Pushed:
    """Move the branch to `commit` if it still is at `expected` (empty: absent). With None, any
    fast-forward is accepted. Large files of Git LFS are sent first. Raises RefusedError if they
    cannot be, and for a name that seems to hold a secret; UnknownError."""
    remote = where(ws)
    if remote is None:
        return _update(ws.folder, commit, name, expected)
    _refuse_secret(name)
    _send_large_files(ws, remote, commit, name)
    lease = [] if expected is None else [f"--force-with-lease={HEADS}{name}:{expected}"]
    pushed = _push(ws, remote, [*lease, remote.name, f"{commit}:{HEADS}{name}"])
    if pushed.answer is PushOutcome.DONE:
        _remember(ws, remote, name, commit)
    return pushed


def _refuse_secret(name: str) -> None:
    from ghp_agents.core.secret_scan import find  # slow to load, and only few commands push

    kind = find(name)
    if kind:
        raise RefusedError(
            f"The branch's name seems to contain {kind}. It would be pushed with the branch.",
            hint="Rename the branch: `git branch -m NAME`.",
        )


def _send_large_files(ws: Workspace, remote: Remote, commit: str, name: str) -> None:
    """Send the files of Git LFS in `commit`, as its hook does for a push. What a remote branch has
    was sent with it; at a merge, that is made sure of. Raises RefusedError, UnknownError."""
    folder, base = _base_folder(ws), trunk(ws)
    has_lfs = name == base and large_files.is_installed(folder)
    main_tip = worktree_admin.tip(folder, tracking(remote, name))
    excluded = [main_tip] if has_lfs and main_tip else [f"--remotes={remote.name}"]
    files = large_files.pointed_at(folder, ws.common_dir, commit, excluded)
    if not files:
        return
    number = count(len(files), "large file")
    if not (has_lfs or large_files.is_installed(folder)):
        raise RefusedError(
            f"{file(name)} has {number} of Git LFS, and `git lfs` is not installed here. Without "
            "it, others would get pointers to files that nobody has.",
            hint=f"Install git-lfs, and run the same command again. `git push {remote.name} "
            f"{file(name)}` also sends them if a hook of yours does that.",
        )
    with progress.step(f"sending {number} of {name}"):
        for start in range(0, len(files), AT_ONCE):
            some = files[start : start + AT_ONCE]
            done = _run_remote(ws, remote, ["lfs", "push", "--object-id", remote.name, *some])
            if done.code != 0:
                raise RefusedError(
                    f"Git LFS did not send {number} of {file(name)}, so nothing was pushed: "
                    f"{one_line(masked(done.err.strip() or done.text), 300)}.",
                    hint="`git lfs push` needs the files here (`git lfs fetch`) and access to the "
                    "server. Then run the same command again.",
                )


def delete(ws: Workspace, name: str, *, expected: str) -> Pushed:
    """Delete the branch on the remote if it still is at `expected`."""
    remote = where(ws)
    if remote is None:
        return Pushed(PushOutcome.DONE)
    lease = f"--force-with-lease={HEADS}{name}:{expected}"
    pushed = _push(ws, remote, [lease, remote.name, f":{HEADS}{name}"])
    if pushed.answer is PushOutcome.DONE:
        _forget(ws, remote, name)
    return pushed


def _remember(ws: Workspace, remote: Remote, name: str, commit: str) -> None:
    """Move the tracking ref after a push. Git does so only if the remote has a refspec for fetches,
    which `git clone --bare` does not configure."""
    ref = tracking(remote, name)
    if worktree_admin.tip(ws.folder, ref) != commit:
        git.run(["update-ref", ref, commit], cwd=ws.folder)


def _forget(ws: Workspace, remote: Remote, name: str) -> None:
    """Delete the tracking ref of a branch that was deleted on the remote, for the same reason."""
    ref = tracking(remote, name)
    if worktree_admin.tip(ws.folder, ref):
        git.run(["update-ref", "-d", ref], cwd=ws.folder)


def delete_all(ws: Workspace, expected: Mapping[str, str]) -> dict[str, Pushed]:
    """Delete branches on the remote, each if it still is at its commit."""
    remote = where(ws)
    if remote is not None and len(expected) > 1:
        leases = [f"--force-with-lease={HEADS}{name}:{oid}" for name, oid in expected.items()]
        pushed = _push(ws, remote, [*leases, remote.name, *(f":{HEADS}{x}" for x in expected)])
        if pushed.answer is PushOutcome.DONE:
            for name in expected:
                _forget(ws, remote, name)
            return dict.fromkeys(expected, pushed)
    return {name: delete(ws, name, expected=oid) for name, oid in expected.items()}


def _update(folder: Path, commit: str, name: str, expected: str | None) -> Pushed:
    """Without a remote, the local branch is the branch; the worktree that has it checked out moved
    it."""
    if worktree_admin.tip(folder, HEADS + name) == commit:
        return Pushed(PushOutcome.DONE)
    old = [] if expected is None else [expected or "0" * len(commit)]
    done = git.run(["update-ref", HEADS + name, commit, *old], cwd=folder)
    return (
        Pushed(PushOutcome.DONE) if done.code == 0 else Pushed(PushOutcome.MOVED, first_error(done))
    )


def _has_commit(folder: Path, remote: Remote, name: str, commit: str) -> bool:
    return worktree_admin.tip(folder, tracking(remote, name)) == commit


def _fetch(ws: Workspace, remote: Remote, names: Sequence[str], *options: str) -> None:
    refspecs = [f"+{HEADS}{name}:{tracking(remote, name)}" for name in names]
    args = ["fetch", *_FETCH_FLAGS, *options, remote.name, *refspecs]
    for _ in range(ATTEMPTS):
        done = _run_remote(ws, remote, args)
        if done.code == 0:
            return
        if "cannot lock ref" not in done.err:
            break
        _forget_blocking(ws, remote, names)
    raise unreachable(remote, first_error(done))


def _forget_blocking(ws: Workspace, remote: Remote, names: Sequence[str]) -> None:
    """Delete the tracking refs of deleted branches that are in the way of others: of `a`, if the
    remote has `a/b` now."""
    for old in worktree_admin.remote_branches(ws.folder, remote.name):
        if any(name.startswith(f"{old}/") or old.startswith(f"{name}/") for name in names):
            _forget(ws, remote, old)


def _push(ws: Workspace, remote: Remote, args: Sequence[str]) -> Pushed:
    flags = ["--porcelain", "--no-verify", "--no-signed", "--recurse-submodules=no"]
    try:
        done = _run_remote(ws, remote, ["push", *flags, *args])
    except UnknownError as error:
        return Pushed(PushOutcome.UNKNOWN, str(error))
    return understand(done)


def _run_remote(
    ws: Workspace, remote: Remote, args: Sequence[str], env: Mapping[str, str] | None = None
) -> git.Result:
    """Run git to talk to the remote, with the person's addresses and credentials, but without
    settings for their own fetches and pushes."""
    flags = [*plain_settings(ws, remote), "-c", "push.followTags=false"]
    env = {**git_credentials.for_remote(ws, remote.name), **(env or {})}

    def run(args: Sequence[str], seconds: float) -> git.Result:
        return git.run([*flags, *args], cwd=_base_folder(ws), timeout=seconds, env=env)

    try:
        if silence.last(asked(ws, remote)):  # a transfer cannot be tried for a moment only
            probe = partial(run, ["ls-remote", remote.name, HEAD])
            silence.ask(asked(ws, remote), silence.AGAIN_S, probe)
        seconds = ws.settings.timeout * (1 if args[0] == "ls-remote" else TRANSFER)
        return silence.ask(asked(ws, remote), seconds, partial(run, args))
    except git.GitTimeoutError as error:
        raise unreachable(remote, str(error)) from None


def _base_folder(ws: Workspace) -> Path:
    """Where relative addresses of remotes start: the main worktree."""
    main = ws.main_worktree
    return main if main is not None and main.is_dir() else ws.folder


def identity(ws: Workspace, name: str) -> dict[str, str]:
    """The identity for a commit by `name`, if git has no user configured."""
    if ws.git_value("user.name") and ws.git_value("user.email"):
        return {}
    return {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", name), ("EMAIL", "ghp-agents@invalid"))
    }
