"""Real git for tests: short calls that fail loudly, commits with a fixed time."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ghp_agents.git import worktree

COMMIT_TIME = "2026-01-02T03:04:05Z"


def git(cwd: Path, *args: str, stdin: str = "", env: Mapping[str, str] | None = None) -> str:
    """What git prints, without the last line end. Fails the test when git fails."""
    done = run_git(cwd, *args, stdin=stdin, env=env)
    assert done.returncode == 0, f"git {' '.join(args)} in {cwd}:\n{done.stdout}{done.stderr}"
    return done.stdout.rstrip("\n")


def run_git(
    cwd: Path, *args: str, stdin: str = "", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Git, where a failure is what the test is about."""
    return subprocess.run(
        ["git", *args],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=60,
    )


def commit(repo: Path, files: Mapping[str, str | bytes], message: str = "Change files") -> str:
    """Write `files` into the worktree and commit them; answers the commit's id."""
    for name, content in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    git(repo, "add", "--", *files)
    times = {"GIT_AUTHOR_DATE": COMMIT_TIME, "GIT_COMMITTER_DATE": COMMIT_TIME}
    git(repo, "commit", "--quiet", "--message", message, env=times)
    return worktree.head(repo)


def begin(bare: Path, files: Mapping[str, str]) -> None:
    """The first commit on main of a bare repository, in a single call of git."""
    who = "Test Person <person@example.invalid> 1767323045 +0000"  # COMMIT_TIME
    lines = ["commit refs/heads/main", f"committer {who}", "data 5", "Begin"]
    for name, content in files.items():
        lines += [f"M 100644 inline {name}", f"data {len(content.encode())}", content]
    git(bare, "fast-import", "--quiet", stdin="\n".join([*lines, ""]))


def refs(repo: Path, prefix: str = "refs") -> dict[str, str]:
    """The refs of a repository under `prefix`, with what they point at."""
    lines = git(repo, "for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
    return dict(line.split(" ", 1) for line in lines)
