"""Whether the remote accepts our refs: pushes a test ref and deletes it again.

The result is stored as long as the remote and its address stay the same.
"""

import secrets
from dataclasses import asdict

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import digest
from ghp_agents.core.json_file import object_file
from ghp_agents.core.remote_url import masked
from ghp_agents.git import process as git
from ghp_agents.state.admin_port import Probe
from ghp_agents.state.coordination import CUSTOM, Remote, coordination_remote
from ghp_agents.state.private_repo import StateRepository, open_repository
from ghp_agents.state.remote import PushOutcome, push
from ghp_agents.workspace import Workspace

NOTE = "probe.json"
KIND = "probe/"


def address(ws: Workspace, remote: Remote) -> str:
    """Where a push to `remote` goes, without credentials."""
    args = ["remote", "get-url", "--push", "--all", remote.name]
    shown = git.run(args, cwd=ws.common_dir, git_dir=ws.common_dir)
    return ", ".join(masked(line) for line in shown.text.splitlines())


def probe(ws: Workspace) -> Probe | None:
    """Push a ref that nobody reads, and delete it; None if nothing is ever pushed.

    Each clone has one name for it, so the next probe removes a left-over. Raises GhpError and
    OSError for local problems; the remote's response is the result.
    """
    remote = coordination_remote(ws)
    if remote is None:
        return None
    repository = open_repository(ws)
    ref = f"{CUSTOM}{KIND}{repository.clone}"
    commit = _unique_commit(ws, repository)
    pushed = push(ws, repository, remote, [f"+{commit}:{ref}"])
    taken = {PushOutcome.DONE: True, PushOutcome.REFUSED: False}.get(pushed.answer)
    words = masked(pushed.words)
    if taken:
        remote = coordination_remote(ws) or remote  # the push may have found the other namespace
        words = _delete(ws, repository, remote, remote.ref(ref))
    result = Probe(remote.name, taken, remote.namespace if taken else "", words, ws.clock.now())
    content = asdict(result) | {"address": digest(address(ws, remote))}
    object_file(ws.cache_dir / NOTE).write(content)  # else the next command probes again
    return result


def last_probe(ws: Workspace) -> Probe | None:
    """The last probe's result for the present remote and address."""
    remote = coordination_remote(ws)
    noted = object_file(ws.cache_dir / NOTE).read()
    if remote is None or noted.pop("address", None) != digest(address(ws, remote)):
        return None
    try:
        result = Probe(**noted)
    except TypeError:
        return None
    return result if result.remote == remote.name else None


def absolute(remote: Remote) -> Remote:
    """The remote without a fallback to the other namespace: `heads/x` is `refs/heads/x` there."""
    return Remote(remote.name, "refs/")


def _unique_commit(ws: Workspace, repository: StateRepository) -> str:
    # Each probe needs a new object: pushing the same one would be "up to date" and prove nothing.
    tree = repository.check("mktree", stdin=b"").text
    who = {"NAME": "ghp-agents", "EMAIL": "ghp-agents@invalid", "DATE": to_text(ws.clock.now())}
    roles = ("AUTHOR", "COMMITTER")
    env = {f"GIT_{role}_{key}": value for role in roles for key, value in who.items()}
    args = ["commit-tree", tree, "-m", f"Probe {secrets.token_hex(8)}"]
    created = repository.run(*args, env=env)
    if created.code != 0:
        raise git.failure(args, created)
    return created.text


def _delete(ws: Workspace, repository: StateRepository, remote: Remote, ref: str) -> str:
    pushed = push(ws, repository, absolute(remote), [f":{ref.removeprefix('refs/')}"])
    if pushed.answer is PushOutcome.DONE:
        return ""
    return f"it did not delete {ref}: {masked(pushed.words)}"
