"""Real git for tests: short calls that fail loudly, commits with a fixed time."""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ghp_agents.core import moment
from ghp_agents.git import worktree

COMMIT_TIME = "2026-01-02T03:04:05Z"
WHO = "Test Person <person@example.invalid> 1767323045 +0000"  # at COMMIT_TIME


def git(cwd: Path, *args: str, stdin: str = "", env: Mapping[str, str] | None = None) -> str:
    """What git prints, without the last line end. Fails the test when git fails."""
    done = run_git(cwd, *args, stdin=stdin, env=env)
    assert done.returncode == 0, f"git {' '.join(args)} in {cwd}:\n{done.stdout}{done.stderr}"
    return done.stdout.rstrip("\n")


def run_git(
    cwd: Path, *args: str, stdin: str = "", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Git, where a failure is what the test is about."""
    moment.end()  # as after each program that the package lets run
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


def configure(repo: Path, section: str, **values: str) -> None:
    """Add to a repository's configuration, without a process."""
    lines = (f"\t{name} = {json.dumps(value)}\n" for name, value in values.items())
    with (repo / ".git/config").open("a") as config:
        config.write("".join([f"[{section}]\n", *lines]))


def set_origin(clone: Path, url: str) -> None:
    """Change where a clone's remote is, without a process."""
    config = clone / ".git/config"
    text, count = re.subn(r"(?m)^\turl = .*$", lambda _: f"\turl = {url}", config.read_text())
    assert count == 1
    config.write_text(text)


def begin(bare: Path, files: Mapping[str, str]) -> None:
    """The first commit on main of a bare repository, in a single call of git."""
    lines = ["commit refs/heads/main", f"committer {WHO}", "data 5", "Begin"]
    for name, content in files.items():
        lines += [f"M 100644 inline {name}", f"data {len(content.encode())}", content]
    git(bare, "fast-import", "--quiet", stdin="\n".join([*lines, ""]))


def add_worktree(repo: Path, path: Path, branch: str = "") -> Path:
    """A linked worktree on a new branch, or on none, as `git worktree add` makes it with four
    processes; here one is enough."""
    main = repo / ".git" if (repo / ".git").exists() else repo  # a bare one
    head = worktree.head(repo)
    admin = main / "worktrees" / path.name
    files = {
        admin / "HEAD": f"{head}\n",
        admin / "commondir": "../..\n",
        admin / "gitdir": f"{path.resolve()}/.git\n",
        path / ".git": f"gitdir: {admin.resolve()}\n",
    }
    if branch:
        name = f"refs/heads/{branch}"
        assert not (main / name).exists(), f"the branch {branch} exists"
        created = f"{'0' * len(head)} {head} {WHO}\tbranch: Created from HEAD\n"
        files |= {main / name: f"{head}\n", main / "logs" / name: created}
        files[admin / "HEAD"] = f"ref: {name}\n"
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(path, "reset", "--hard", "--quiet")
    return path


def read_ref(bare: Path, name: str) -> str | None:
    """Where a ref of a bare repository points at, without a process; None if it is not there."""
    if ".." in name or not (bare / "HEAD").exists():
        return None
    if (bare / name).is_file():
        return (bare / name).read_text().strip()
    packed = bare / "packed-refs"
    lines = packed.read_text().splitlines() if packed.exists() else []
    return next((line[:40] for line in lines if line[41:] == name), None)


def read_all_refs(bare: Path) -> dict[str, bytes]:
    """All that a bare repository says of its refs, without a process."""
    places = [bare / "HEAD", bare / "packed-refs", *(bare / "refs").rglob("*")]
    return {str(path.relative_to(bare)): path.read_bytes() for path in places if path.is_file()}


def refs(repo: Path, prefix: str = "refs") -> dict[str, str]:
    """The refs of a repository under `prefix`, with what they point at."""
    lines = git(repo, "for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
    return dict(line.split(" ", 1) for line in lines)
