"""Git processes with fixed flags and a clean environment. This module knows only git.

Plain `git` is used for objects, refs and transport: a library starts slower and fails in sha256 or
reftable repositories. GitPython is used to look at a person's worktree.
"""

import contextlib
import functools
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import moment, stored_logins, trace
from ghp_agents.core.errors import GhpError, NotSetUpError
from ghp_agents.core.token_hosts import TOKENS
from ghp_agents.hotpath.ignored_files import LOCAL_VARIABLES
from ghp_agents.hotpath.quoting import path_word

LOCAL_PATIENCE = 60.0  # seconds for a local git process
MINIMUM_VERSION = (2, 31)  # `fetch --refmap= --no-write-fetch-head --no-auto-maintenance`

# Passed on every call: a person's hooks must never run for our writes. This also holds inside a
# hook of a `git -c core.hooksPath=…` call.
_FLAGS = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")


# These move no ref and wait for nobody; after any other one, refs are read again.
_READING = frozenset(
    (
        "cat-file",
        "check-attr",
        "check-ignore",
        "cherry",
        "commit-tree",
        "config",
        "count-objects",
        "diff",
        "diff-tree",
        "for-each-ref",
        "grep",
        "hash-object",
        "log",
        "ls-files",
        "ls-tree",
        "merge-base",
        "merge-tree",
        "mktree",
        "read-tree",
        "reflog",
        "rev-list",
        "rev-parse",
        "show",
        "status",
        "update-index",
        "var",
        "version",
        "write-tree",
    )
)

# Gemini CLI starts the commands in its shell with these (version 0.61).
_SWITCHED_OFF = (("GIT_CONFIG_GLOBAL", os.devnull), ("GIT_ASKPASS", ""))

Process = subprocess.Popen[bytes]
# The values of each name, the last one in force, with their scopes: "local", "worktree", …
Configuration = dict[str, list[tuple[str, str]]]


class GitError(GhpError):
    """A git process failed; `stderr` has its output."""

    def __init__(self, message: str, *, hint: str, stderr: str = "") -> None:
        super().__init__(message, hint=hint)
        self.stderr = stderr


class GitTimeoutError(GitError):
    """A git process exceeded its timeout and was killed."""


class Result(NamedTuple):
    """The result of a git process."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Standard output as text, without the last newline."""
        return self.out.decode("utf-8", "replace").rstrip("\n")

    def checked(self, args: Sequence[str]) -> "Result":
        """The same. Raises GitError unless git, called with `args`, exited with 0."""
        if self.code != 0:
            raise failure(args, self)
        return self

    @property
    def errors(self) -> list[str]:
        """What git calls an error, without that word."""
        lines = self.err.splitlines()
        return [x.partition(": ")[2] for x in lines if x.startswith(("error:", "fatal:"))]

    @property
    def names(self) -> list[str]:
        """The names in output with NUL separators."""
        return [os.fsdecode(part) for part in self.out.split(b"\0") if part]


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a git process: nothing from a hook, no tokens except those in `extra`, no
    prompts, messages in English."""
    # Local commands need no tokens; one that talks to a remote gets those of its host
    # (`state/git_credentials.py`).
    left_out = (*LOCAL_VARIABLES, *TOKENS)
    environ = stored_logins.given_back(os.environ)
    env = {key: value for key, value in environ.items() if key not in left_out}
    if env.get("GEMINI_CLI"):
        _drop_overrides(env)
    env |= {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "SSH_ASKPASS_REQUIRE": "never",
        "LC_ALL": "C",
    }
    return env | dict(extra or {})


def _drop_overrides(env: dict[str, str]) -> None:
    """Drop what Gemini CLI sets for the commands in its shell: it turns off the user's git
    configuration, ssh and credential helpers, so no remote could be reached."""
    for key in tuple(env):
        is_override = key.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))
        if is_override or key == "GIT_CONFIG_COUNT" or (key, env[key]) in _SWITCHED_OFF:
            del env[key]


def run(
    args: Sequence[str],
    *,
    cwd: Path,
    git_dir: Path | None = None,
    stdin: bytes | None = None,
    timeout: float = LOCAL_PATIENCE,
    env: Mapping[str, str] | None = None,
    keep_open: Sequence[int] = (),
) -> Result:
    """Run git to its end, whatever its exit code.

    The child gets its own session: a signal to our process group does not stop it halfway through
    an update. `keep_open` are descriptors of locks that the child must hold while it runs. Raises
    GitTimeoutError, NotSetUpError (no git).
    """
    given = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    with _open(args, cwd, git_dir, env, given, subprocess.PIPE, keep_open) as process:
        try:
            out, err = process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            raise GitTimeoutError(
                f"`git {_verb(args)}` did not finish within {round(timeout, 1) or timeout:g} s.",
                hint="Check the network and the remote; `ghp agent-doctor` tests both.",
            ) from None
        finally:
            if process.returncode is None:
                kill(process)
            if _verb(args) not in _READING:
                moment.end()
    return Result(process.returncode, out, err.decode("utf-8", "replace"))


def start(args: Sequence[str], *, git_dir: Path, env: Mapping[str, str] | None = None) -> Process:
    """Start git with pipes to its standard input and output. Raises NotSetUpError (no git)."""
    return _open(args, git_dir, git_dir, env, subprocess.PIPE, subprocess.DEVNULL)


def _open(
    args: Sequence[str], cwd: Path, git_dir: Path | None, env: Mapping[str, str] | None,
    stdin: int, stderr: int, keep_open: Sequence[int] = (),
) -> Process:  # fmt: skip
    try:
        return subprocess.Popen(
            _command(args, git_dir), cwd=cwd, env=environment(env), stdin=stdin,
            stdout=subprocess.PIPE, stderr=stderr, start_new_session=True,
            pass_fds=tuple(keep_open),
        )  # fmt: skip
    except FileNotFoundError as error:
        raise _not_started(error, cwd) from None


def kill(process: Process) -> None:
    """Kill git and its children: a remaining ssh would hang and keep inherited descriptors open."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def check(
    args: Sequence[str],
    *,
    cwd: Path,
    git_dir: Path | None = None,
    stdin: bytes | None = None,
    timeout: float = LOCAL_PATIENCE,
    env: Mapping[str, str] | None = None,
    keep_open: Sequence[int] = (),
) -> Result:
    """Run git as `run` does. Raises GitError, too, unless it exits with 0."""
    return run(
        args, cwd=cwd, git_dir=git_dir, stdin=stdin, timeout=timeout, env=env, keep_open=keep_open
    ).checked(args)


def failure(args: Sequence[str], result: Result) -> GitError:
    """The error for a failed git process, with a hint if the cause is known."""
    lines = result.err.strip().splitlines() or [f"exit code {result.code}"]
    reason = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])
    hint = "Run `ghp agent-doctor`; it checks git, the remote and the permissions."
    if lock := lock_file(result.err):
        hint = f"If no other git command runs there: `rm -f {path_word(lock)}`, then try again."
    elif "dubious ownership" in result.err:
        trust = "git config --global --add safe.directory <path>"
        hint = f"The repository belongs to another user: `{trust}`."
    elif "No space left" in result.err or "Disk quota exceeded" in result.err:
        hint = "The disk is full: free some space and run the command again."
    elif "Read-only file system" in result.err or "Permission denied" in result.err:
        hint = "Cannot write the repository: set GHP_STATE_DIR to a writable folder."
    return GitError(f"`git {_verb(args)}` failed: {reason}", hint=hint, stderr=result.err)


def lock_file(words: str) -> str:
    """The lock file that git found, by its words; empty if it found none."""
    for line in words.splitlines():
        quoted = next((part for part in line.split("'") if part.endswith(".lock")), "")
        config = line.partition("could not lock config file ")[2].rpartition(": ")[0]
        if "File exists" in line and (quoted or config):
            return quoted or f"{config}.lock"
    return ""


def config(cwd: Path, key: str) -> str | None:
    """A value of git's configuration, or None."""
    result = run(["config", "--get", key], cwd=cwd)
    return result.text if result.code == 0 else None


def configuration(folder: Path, git_dir: Path) -> Configuration:
    """Git's whole configuration for a worktree, in one process. Raises GitError."""
    shown = check(["config", "-z", "--show-scope", "--list"], cwd=folder, git_dir=git_dir)
    fields = shown.out.decode("utf-8", "replace").split("\0")
    settings: Configuration = {}
    for scope, line in zip(fields[::2], fields[1::2], strict=False):
        name, _, value = line.partition("\n")
        settings.setdefault(name, []).append((scope, value))
    return settings


def version() -> tuple[int, ...]:
    """The installed git's version, as (2, 39, 5)."""
    return _version(os.environ.get("PATH", ""))


@functools.cache
def _version(_: str) -> tuple[int, ...]:
    words = check(["version"], cwd=Path("/")).text.split()
    numbers = [part for part in words[2].split(".") if part.isdigit()]
    return tuple(int(number) for number in numbers)


def run_gitpython(folder: Path, git_dir: Path, *args: str) -> bytes:
    """The output of a git command on a person's history and worktree, by GitPython. Raises GitError
    unless it exits with 0.

    Only its command runner is used: its objects fail in sha256 repositories (measured with 3.2.1:
    ValueError), and its refs in reftable ones. It takes twice as long to import as click, so only
    what is rarely asked uses it.
    """
    import git as gitpython

    trace.command(["git", *args])
    # GitPython adds its own variables to the process's environment.
    env = environment(dict.fromkeys(TOKENS, ""))
    if "GIT_DIR" in os.environ:  # inside a hook, perhaps of another worktree
        env["GIT_DIR"] = str(git_dir)
    try:
        code, out, err = gitpython.Git(folder).execute(
            ["git", *_FLAGS, *args],
            env=env,
            with_exceptions=False,
            with_extended_output=True,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
        )
    except gitpython.GitError as error:
        raise GitError(f"`git {args[0]}` failed: {error}", hint="Run `ghp agent-doctor`.") from None
    return Result(code, out, err).checked(args).out


def _command(args: Sequence[str], git_dir: Path | None) -> list[str]:
    # `--git-dir` turns off git's own checks: of the owner, `safe.directory` and
    # `safe.bareRepository`. That is safe: `locate` and `discovery` return only repositories that
    # belong to the user, or that git itself accepted.
    trace.command(["git", *args])
    where = ["--git-dir", str(git_dir)] if git_dir else []
    return ["git", *_FLAGS, *where, *args]


def _verb(args: Sequence[str]) -> str:
    words = list(args)
    while words[0] == "-c":
        del words[:2]
    return next((word for word in words if not word.startswith("--")), "")


def _not_started(error: FileNotFoundError, cwd: Path) -> NotSetUpError:
    if not cwd.is_dir():
        return NotSetUpError(
            f"The folder {cwd} does not exist (any more).",
            hint="Change to a folder of the repository and try again.",
        )
    return NotSetUpError(f"Cannot start git: {error.strerror}.", hint="Install git 2.31 or newer.")
