"""Hosts of remotes as they are in the world: with hooks, behind ssh, silent, read-only."""

import os
from pathlib import Path

from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.git import git

# What a host does that takes nothing but branches and tags.
ONLY_BRANCHES = """\
case "$1" in refs/heads/*|refs/tags/*) exit 0;; esac
echo "this host takes only branches and tags" >&2
exit 1
"""

# What GitHub says over ssh to who may not push. Git says the last three lines of every ssh.
DENIED = """\
echo 'ERROR: Permission to owner/repo.git denied to somebody.' >&2
exit 1
"""

OFFLINE = """\
echo 'ssh: Could not resolve hostname host.invalid: Name or service not known' >&2
exit 255
"""


def hook(repository: Path, name: str, script: str) -> Path:
    """Give a bare repository a hook."""
    return executable(repository / "hooks" / name, script)


def executable(path: Path, script: str) -> Path:
    """A shell script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}")
    path.chmod(0o755)
    return path


def behind_ssh(clone: Path, remote: Path, push: str = "", fetch: str = "") -> Path:
    """Let `clone` reach `remote` through an ssh that runs `push` or `fetch` before the real thing;
    answers a file with the process ids of the calls, one on a line."""
    log = clone.parent / f"{clone.name}-ssh.log"
    script = executable(
        clone.parent / f"{clone.name}-ssh",
        # Called as: ssh [options] host "git-receive-pack '/path'"
        f"echo $$ >> {log}\n"
        "for last; do :; done\n"
        f'case "$last" in\n'
        f"git-receive-pack*)\n{push or ':'}\n;;\n"
        f"git-upload-pack*)\n{fetch or ':'}\n;;\n"
        "esac\n"
        'exec sh -c "exec $last"\n',
    )
    git(clone, "config", "core.sshCommand", str(script))
    git(clone, "config", "ssh.variant", "simple")
    git(clone, "remote", "set-url", "origin", f"ssh://host.invalid{remote}")
    return log


def workspace(
    folder: Path, clock: ManualClock | None = None, timeout: float | None = None
) -> Workspace:
    """The workspace of a clone, on a clock that stands still."""
    if timeout is not None:
        (folder / ".ghp").mkdir(exist_ok=True)
        (folder / ".ghp/config.json").write_text(f'{{"agents": {{"timeout": {timeout}}}}}')
    return open_workspace(folder, dict(os.environ), clock or ManualClock())
