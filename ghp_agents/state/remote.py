"""The coordination remote: how to exchange with it, and what its responses mean."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from ghp_agents.core.errors import UnknownError
from ghp_agents.core.ids import digest
from ghp_agents.core.json_file import object_file
from ghp_agents.core.remote_url import masked
from ghp_agents.git import process as git
from ghp_agents.git import silence
from ghp_agents.git.silence import AskedRemote
from ghp_agents.hotpath.background import BOX
from ghp_agents.state import git_credentials, refusal
from ghp_agents.state.coordination import BRANCHES, CUSTOM, NAMESPACE_CACHE, Remote
from ghp_agents.state.private_repo import (
    SEEN_LEASE_REFS,
    SEEN_REFS,
    StateRepository,
)
from ghp_agents.workspace import Workspace

BOXED = "this run is in a sandbox; `ghp agent-work` sends what it writes"
SILENCE = "silent-remote.json"  # in the cache
FETCH_ATTEMPTS = 6  # retried only if another process of this clone fetched, too


class PushOutcome(StrEnum):
    """The result of a push."""

    DONE = "done"
    MOVED = "moved"  # the ref is not as expected
    REFUSED = "refused"  # policy, permission, size: a retry will not help
    UNKNOWN = "unknown"  # unreachable or interrupted: it may or may not have happened


class Pushed(NamedTuple):
    """A push's result, and the remote's message if any."""

    answer: PushOutcome
    words: str = ""
    about_ref: bool = False  # REFUSED: the remote responds, but does not accept this ref
    is_unsent: bool = False  # UNKNOWN: git did not reach the remote, so it did not happen
    lines: tuple[str, ...] = ()  # of the server, as it wrote them


def fetch(
    ws: Workspace, repository: StateRepository, remote: Remote, *, keep_open: Sequence[int] = ()
) -> str | None:
    """Fetch the remote's refs of all clones and locks; returns the error message, or None.

    Both namespaces are fetched, because another clone may have found out first that this host
    accepts only branches.
    """
    if ws.environ.get(BOX):
        return BOXED
    refspecs = [*_refspecs(BRANCHES), *_refspecs(CUSTOM)]
    try:
        for _ in range(FETCH_ATTEMPTS):
            result = _fetch(ws, repository, remote, ["--prune"], refspecs, keep_open)
            if "Cannot fetch both" in result.err:  # a clone that once used the other namespace
                refspecs = _refspecs(remote.namespace)
            elif "cannot lock ref" not in result.err:
                break  # otherwise another process of this clone, also without a lock, was faster
    except git.GitTimeoutError as error:
        return str(error)
    return None if result.code == 0 else refusal.first_error(result)


def fetch_refs(
    ws: Workspace, repository: StateRepository, remote: Remote, refspecs: Sequence[str]
) -> bool:
    """Fetch refs by their full names on the remote; False if a named one does not exist.

    Raises UnknownError if the remote cannot be asked.
    """
    if ws.environ.get(BOX):
        raise unreachable(remote, BOXED)
    try:
        result = _fetch(ws, repository, remote, [], refspecs)
    except git.GitTimeoutError as error:
        raise unreachable(remote, str(error)) from None
    if result.code == 0:
        return True
    if "couldn't find remote ref" in result.err.lower():
        return False
    raise unreachable(remote, refusal.first_error(result))


def has_refs(ws: Workspace, remote: Remote, timeout: float) -> bool:
    """Whether the remote has refs of ours; needs no repository of ours. Raises GhpError."""
    args = ["ls-remote", "--refs", remote.name, f"{CUSTOM}*", *_branch_kinds()]
    listed = silence.ask(
        asked(ws, remote),
        timeout,
        lambda seconds: git.run(
            [*plain_settings(ws, remote), *args],
            cwd=ws.common_dir,
            git_dir=ws.common_dir,
            timeout=seconds,
            env=git_credentials.for_remote(ws, remote.name),
        ),
    )
    if listed.code != 0:
        raise git.failure(args, listed)
    return bool(listed.out)


def _branch_kinds() -> list[str]:
    # By kind: `ghp/147-dashboard` may be a person's branch.
    return [f"{BRANCHES}{kind}/*" for kind in ("clone", "lease")]


def unreachable(remote: Remote, words: str) -> UnknownError:
    """The error for a question that only the remote can answer."""
    if words == BOXED:
        return UnknownError(
            f"Only the remote {remote.name} can decide this, and this run is in a sandbox, which "
            "does not reach it. Nothing was changed.",
            hint="Continue without it, or ask a person: `ghp agent-escalate TEXT`.",
        )
    return UnknownError(
        f"Only the remote {remote.name} can decide this, and it did not answer: {words}",
        hint="Try again when it is reachable; `ghp agent-doctor` tests the connection.",
    )


def _fetch(
    ws: Workspace,
    repository: StateRepository,
    remote: Remote,
    options: Sequence[str],
    refspecs: Sequence[str],
    keep_open: Sequence[int] = (),
) -> git.Result:
    args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
    args += ["--refmap=", "--no-auto-maintenance", "--no-filter", *options, remote.name, *refspecs]
    return exchange(ws, repository, remote, args, keep_open=keep_open)


def _refspecs(namespace: str) -> list[str]:
    into = (("clone/", SEEN_REFS), ("lease/", SEEN_LEASE_REFS))
    return [f"+{namespace}{kind}*:{local}*" for kind, local in into]


def push(
    ws: Workspace,
    repository: StateRepository,
    remote: Remote,
    refspecs: Sequence[str],
    *,
    expected: dict[str, str] | None = None,
    keep_open: Sequence[int] = (),
) -> Pushed:
    """Push `refspecs` (`<oid or local ref>:<refs/ghp/…>`, an empty source deletes).

    With `expected` (ref → oid, or empty for "absent"), refs are compared and swapped, all or none.
    If a host does not accept our own refs, branches are used. That is found out before the first
    push: clones that use different namespaces could both win a lock.
    """
    if ws.environ.get(BOX):
        return Pushed(PushOutcome.UNKNOWN, BOXED, is_unsent=True)
    if remote.namespace == CUSTOM and not remote.settled:
        answer = _branches_in_use(ws, repository, remote)
        if isinstance(answer, Pushed):
            return answer
        if answer:
            remote = _store_namespace(ws, remote, BRANCHES)
    pushed = _push(ws, repository, remote, refspecs, expected or {}, keep_open)
    if remote.settled or remote.namespace != CUSTOM:
        return pushed
    if pushed.answer is PushOutcome.DONE:
        _store_namespace(ws, remote, CUSTOM)
    elif pushed.about_ref and not _custom_in_use(ws, repository, remote):
        branches = remote._replace(namespace=BRANCHES)
        again = _push(ws, repository, branches, refspecs, expected or {}, keep_open)
        if again.answer is PushOutcome.DONE:
            _store_namespace(ws, remote, BRANCHES)
        if again.answer is not PushOutcome.REFUSED:
            return again  # also if interrupted: it may have happened, as a branch
    return pushed


def _branches_in_use(ws: Workspace, repository: StateRepository, remote: Remote) -> bool | Pushed:
    """Whether our refs are branches there already; a push result if that cannot be told."""
    args = ["ls-remote", "--heads", remote.name, *_branch_kinds()]
    try:
        listed = exchange(ws, repository, remote, args)
    except git.GitTimeoutError as error:
        return Pushed(PushOutcome.UNKNOWN, str(error), is_unsent=True)
    if listed.code == 0:
        return bool(listed.out)
    failed = understand(listed)
    return failed._replace(is_unsent=failed.answer is PushOutcome.UNKNOWN)


def _custom_in_use(ws: Workspace, repository: StateRepository, remote: Remote) -> bool:
    """Whether the host has custom refs of ours: then it refused this one for another reason."""
    args = ["ls-remote", "--refs", remote.name, f"{CUSTOM}*"]
    try:
        listed = exchange(ws, repository, remote, args)
    except git.GitTimeoutError:
        return True
    return listed.code != 0 or bool(listed.out)


def _push(
    ws: Workspace,
    repository: StateRepository,
    remote: Remote,
    refspecs: Sequence[str],
    expected: dict[str, str],
    keep_open: Sequence[int],
) -> Pushed:
    args = ["push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"]
    args += (
        ["--recurse-submodules=no", "--atomic"]
        if len(refspecs) > 1
        else ["--recurse-submodules=no"]
    )
    args += [f"--force-with-lease={remote.ref(ref)}:{oid}" for ref, oid in expected.items()]
    args.append(remote.name)
    for refspec in refspecs:
        source, _, target = refspec.partition(":")
        args.append(f"{source}:{remote.ref(target)}")
    try:
        result = exchange(ws, repository, remote, args, keep_open=keep_open)
    except git.GitTimeoutError as error:
        return Pushed(PushOutcome.UNKNOWN, str(error))
    return understand(result)


# In the words of git, or of the server behind it; our git speaks English (LC_ALL=C).
_MOVED = (
    *("[rejected]", "cannot lock ref", "failed to update ref", "failed to lock", "lock error"),
    *("incorrect old value", "already exists", "reference does not exist"),
)
_PASSING = ("internal server error", "unpacker error", "timed out", "timeout", "temporar")
_NO_ACCESS = re.compile(
    r"returned error: 40[13]|http 40[13]|permission denied \(|permission to .* denied"
    r"|access denied|authentication failed|could not read (username|password)"
    r"|repository '?.*'? ?not found|not permitted|not allowed|read[- ]only|service not enabled"
    r"|saml sso|not exported|host key verification failed|do not have permission|not authorized"
)
# Over HTTP, git asks for the refs first ("unable to access"); another error may follow a push.
_UNREACHED = re.compile(
    r"^fatal: unable to (access|look up|connect to) |does not appear to be a git repository"
    r"|^ssh: (Could not resolve hostname|connect to host) ",
    re.MULTILINE,
)


def understand(result: git.Result) -> Pushed:
    """The outcome of a `git push --porcelain`."""
    rejected = [line for line in result.text.splitlines() if line.startswith("!")]
    if result.code == 0 and not rejected:
        return Pushed(PushOutcome.DONE)
    if not rejected:
        # Every failed ssh prints "Make sure you have the correct access rights".
        words = refusal.first_error(result)
        if _NO_ACCESS.search(result.err.lower()):
            return Pushed(PushOutcome.REFUSED, words)
        is_unsent = bool(_UNREACHED.search(result.err))
        return Pushed(PushOutcome.UNKNOWN, words, is_unsent=is_unsent)
    reasons = [line.split("\t")[-1] for line in rejected]
    words = "; ".join(dict.fromkeys(reasons))
    blocked = "exists; cannot create" in result.err  # a branch called `ghp` blocks our refs
    if not blocked and any(sign in reason.lower() for reason in reasons for sign in _MOVED):
        return Pushed(PushOutcome.MOVED, words)
    passing = any(sign in reason.lower() for reason in reasons for sign in _PASSING)
    if passing or not any("[remote rejected]" in reason for reason in reasons):
        return Pushed(PushOutcome.UNKNOWN, words)
    lines = refusal.server_lines(result)
    words = masked(f"{words} {refusal.readable(lines)}").rstrip()[: refusal.LONGEST]
    return Pushed(PushOutcome.REFUSED, words, about_ref=True, lines=lines)


def exchange(
    ws: Workspace,
    repository: StateRepository,
    remote: Remote,
    args: Sequence[str],
    *,
    keep_open: Sequence[int] = (),
) -> git.Result:
    """Run git to talk to the remote: with the person's addresses and credentials, but without
    settings for their own fetches and pushes."""
    return silence.ask(
        asked(ws, remote),
        ws.settings.timeout,
        lambda seconds: git.run(
            [*plain_settings(ws, remote), *args],
            cwd=repository.folder,
            git_dir=repository.path,
            timeout=seconds,
            env=git_credentials.for_remote(ws, remote.name),
            keep_open=keep_open,
        ),
    )


def asked(ws: Workspace, remote: Remote) -> AskedRemote:
    """The remote as one whose silence this clone remembers."""
    return AskedRemote(
        remote.name, ws.remotes.get(remote.name, ""), ws.cache_dir / SILENCE, ws.clock
    )


def plain_settings(ws: Workspace, remote: Remote) -> list[str]:
    """Arguments of git that turn off a person's settings for their own fetches and pushes."""
    own = f"remote.{remote.name}"
    settings = (
        *(f"{own}.mirror=false", f"{own}.prune=false", f"{own}.tagOpt=--no-tags"),
        *("push.pushOption=", "http.lowSpeedLimit=1000"),
        f"http.lowSpeedTime={max(1, int(ws.settings.timeout))}",
    )
    return [word for setting in settings for word in ("-c", setting)]


def _store_namespace(ws: Workspace, remote: Remote, namespace: str) -> Remote:
    """Store the namespace of our refs; by address, because remote names can be reused."""
    namespaces = {digest(ws.remotes.get(remote.name, "")): namespace}
    object_file(ws.cache_dir / NAMESPACE_CACHE).write(namespaces)
    return Remote(remote.name, namespace, settled=True)
