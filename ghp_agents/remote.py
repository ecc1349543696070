"""The coordination remote: which one it is, what we say to it, and what its answers mean."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ghp_agents import files, git
from ghp_agents.errors import GhpError
from ghp_agents.repository import SEEN_LEASE_REFS, SEEN_REFS, StateRepository, first_error
from ghp_agents.workspace import Workspace

CUSTOM = "refs/ghp/"  # invisible in clones, web pages and checks
BRANCHES = "refs/heads/ghp/"  # for hosts that refuse all but branches and tags
NAMESPACE_CACHE = "remote.json"


class Answer(StrEnum):
    """What a push came to."""

    DONE = "done"
    MOVED = "moved"  # the ref is not what we expected
    REFUSED = "refused"  # policy, permission, size: trying again will not help
    UNKNOWN = "unknown"  # cannot be reached, or broke off: may or may not have happened


@dataclass(frozen=True, slots=True)
class Pushed:
    """A push's answer, and the remote's words where it said any."""

    answer: Answer
    words: str = ""


@dataclass(frozen=True, slots=True)
class Remote:
    """The coordination remote and where on it our refs are."""

    name: str
    namespace: str = CUSTOM

    def ref(self, local: str) -> str:
        """Our ref `refs/ghp/…` as the remote calls it."""
        return self.namespace + local.removeprefix(CUSTOM)


def coordination_remote(ws: Workspace) -> Remote | None:
    """The configured remote, else `origin`, else the only one; None: all stays in this clone.

    Raises GhpError when the configuration names one that is not there.
    """
    if not ws.settings.push:
        return None
    known = git.run(["remote"], cwd=ws.common_dir, git_dir=ws.common_dir).text.split()
    wanted = ws.settings.remote
    if wanted and wanted not in known:
        raise GhpError(
            f"The configured coordination remote {wanted!r} is not a remote of this repository.",
            hint=f"Known are: {', '.join(known) or 'none'}. Correct `agents.remote` in the "
            "configuration, or add it with `git remote add`.",
        )
    name = wanted or ("origin" if "origin" in known else known[0] if len(known) == 1 else None)
    return Remote(name, _namespace(ws, name)) if name else None


def fetch(
    ws: Workspace, repository: StateRepository, remote: Remote, *, keep_open: Sequence[int] = ()
) -> str | None:
    """Bring the remote's view of all clones and leases here; the words of what went wrong, or None.

    Both namespaces are asked for, because another clone may have found out before us that this
    host takes only branches.
    """
    args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
    args += ["--refmap=", "--no-auto-maintenance", "--no-filter", "--prune", remote.name]
    try:
        both = [*_refspecs(BRANCHES), *_refspecs(CUSTOM)]
        result = _exchange(ws, repository, remote, [*args, *both], keep_open=keep_open)
        if "Cannot fetch both" in result.err:  # a clone that once used the other namespace
            only = _refspecs(remote.namespace)
            result = _exchange(ws, repository, remote, [*args, *only], keep_open=keep_open)
    except git.GitTimeoutError as error:
        return str(error)
    return None if result.code == 0 else first_error(result)


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

    With `expected` (ref → oid, or empty for "not there"), each is compared and swapped, all or
    none. A host that refuses our own namespace is tried once more with branches.
    """
    pushed = _push(ws, repository, remote, refspecs, expected or {}, keep_open)
    if pushed.answer is Answer.REFUSED and remote.namespace == CUSTOM:
        branches = Remote(remote.name, BRANCHES)
        again = _push(ws, repository, branches, refspecs, expected or {}, keep_open)
        if again.answer in (Answer.DONE, Answer.MOVED):
            _remember_namespace(ws, branches)
            return again
    return pushed


def _push(
    ws: Workspace,
    repository: StateRepository,
    remote: Remote,
    refspecs: Sequence[str],
    expected: dict[str, str],
    keep_open: Sequence[int],
) -> Pushed:
    args = ["push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"]
    args += ["--recurse-submodules=no", "--atomic"] if len(refspecs) > 1 else ["--recurse-submodules=no"]
    args += [f"--force-with-lease={remote.ref(ref)}:{oid}" for ref, oid in expected.items()]
    args.append(remote.name)
    for refspec in refspecs:
        source, _, target = refspec.partition(":")
        args.append(f"{source}:{remote.ref(target)}")
    try:
        result = _exchange(ws, repository, remote, args, keep_open=keep_open)
    except git.GitTimeoutError as error:
        return Pushed(Answer.UNKNOWN, str(error))
    return _understand(result)


def _understand(result: git.Result) -> Pushed:
    rejected = [line for line in result.text.splitlines() if line.startswith("!")]
    if result.code == 0 and not rejected:
        return Pushed(Answer.DONE)
    words = "; ".join(line.split("\t")[-1] for line in rejected) or first_error(result)
    said = result.text + result.err
    if rejected:
        moved = ("[rejected]", "stale info", "fetch first", "non-fast-forward")
        races = ("cannot lock ref", "failed to update ref", "incorrect old value", "already exists")
        if any(sign in line for line in rejected for sign in moved + races):
            return Pushed(Answer.MOVED, words)
        if "remote rejected" in said:
            remote_words = [x[8:] for x in result.err.splitlines() if x.startswith("remote: ")]
            return Pushed(Answer.REFUSED, " ".join([words, *remote_words])[:500])
        return Pushed(Answer.UNKNOWN, words)
    denied = ("403", "401", "denied", "not permitted", "read-only", "access rights", "not exported")
    lower = result.err.lower()
    if any(sign in lower for sign in denied) or "service not enabled" in lower:
        return Pushed(Answer.REFUSED, words)
    return Pushed(Answer.UNKNOWN, words)


def _exchange(
    ws: Workspace,
    repository: StateRepository,
    remote: Remote,
    args: list[str],
    *,
    keep_open: Sequence[int],
) -> git.Result:
    """Talk to the remote with the person's addresses and credentials, and none of the settings
    that are meant for their own fetches and pushes."""
    override = f"remote.{remote.name}"
    flags = [
        *("-c", f"{override}.mirror=false", "-c", f"{override}.promisor=false"),
        *("-c", f"{override}.prune=false", "-c", f"{override}.partialclonefilter="),
        *("-c", f"{override}.tagOpt=--no-tags", "-c", "push.pushOption=", "-c", "push.gpgSign=false"),
        *("-c", "http.lowSpeedLimit=1000", "-c", f"http.lowSpeedTime={int(ws.settings.timeout)}"),
    ]
    return git.run(
        [*flags, *args],
        cwd=repository.folder,
        git_dir=repository.path,
        timeout=ws.settings.timeout,
        keep_open=keep_open,
    )


def _namespace(ws: Workspace, name: str) -> str:
    try:
        known = json.loads((ws.cache_dir / NAMESPACE_CACHE).read_bytes())
        return BRANCHES if known.get(name) == BRANCHES else CUSTOM
    except (OSError, ValueError, AttributeError):
        return CUSTOM


def _remember_namespace(ws: Workspace, remote: Remote) -> None:
    content = json.dumps({remote.name: remote.namespace}).encode()
    files.write_atomically(ws.cache_dir / NAMESPACE_CACHE, content)
