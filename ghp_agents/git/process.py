"""Git processes with fixed flags and a clean environment. This module knows only git.

Plain `git` is used for objects, refs and transport: a library starts slower and fails in sha256 or
reftable repositories. GitPython is used to look at a person's worktree.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from ghp_agents.core.errors import GhpError, NotSetUpError

LOCAL_PATIENCE = 60.0  # seconds for a local git process
MINIMUM_VERSION = (2, 31)  # `fetch --refmap= --no-write-fetch-head --no-auto-maintenance`

# Passed on every call: a person's hooks must never run for our writes. This also holds inside a
# hook of a `git -c core.hooksPath=…` call.
_FLAGS = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")

# `git rev-parse --local-env-vars`, without the settings of `git -c` and GIT_CONFIG_COUNT, which may
# carry credentials. Inside a hook these variables would point git at another repository.
_LOCAL_VARIABLES = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)

# GitHub's tokens, with the names that `gh` uses. Local commands need none; one that talks to a
# remote gets those of its host (`state/git_credentials.py`).
TOKENS = ("GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")


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


class Object(NamedTuple):
    """One git object."""

    oid: str
    kind: str  # blob, tree, commit, tag
    content: bytes
    is_cut: bool = False  # too large: the content was not read


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a git process: nothing from a hook, no tokens except those in `extra`, no
    prompts, messages in English."""
    left_out = (*_LOCAL_VARIABLES, *TOKENS)
    env = {key: value for key, value in os.environ.items() if key not in left_out}
    env |= {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "SSH_ASKPASS_REQUIRE": "never",
        "LC_ALL": "C",
    }
    return env | dict(extra or {})


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
    try:
        process = subprocess.Popen(
            _command(args, git_dir),
            cwd=cwd,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(env),
            start_new_session=True,
            pass_fds=tuple(keep_open),
        )
    except FileNotFoundError as error:
        raise _not_started(error, cwd) from None
    with process:
        try:
            out, err = process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            raise GitTimeoutError(
                f"`git {_verb(args)}` did not end within {timeout:g} s.",
                hint="Check the network and the remote; `ghp agent-doctor` tests both.",
            ) from None
        finally:
            if process.returncode is None:
                _end(process)
    return Result(process.returncode, out, err.decode("utf-8", "replace"))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill git and its children: a remaining ssh would hang and keep inherited descriptors open."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def check(
    args: Sequence[str],
    *,
    cwd: Path,
    git_dir: Path | None = None,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    keep_open: Sequence[int] = (),
) -> Result:
    """Run git. Raises GitError unless it exits with 0."""
    result = run(args, cwd=cwd, git_dir=git_dir, stdin=stdin, env=env, keep_open=keep_open)
    if result.code != 0:
        raise failure(args, result)
    return result


def failure(args: Sequence[str], result: Result) -> GitError:
    """The error for a failed git process, with a hint if the cause is known."""
    lines = result.err.strip().splitlines() or [f"exit code {result.code}"]
    reason = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])
    hint = "Run `ghp agent-doctor`; it checks git, the remote and the permissions."
    if "dubious ownership" in result.err:
        trust = "git config --global --add safe.directory <path>"
        hint = f"The repository belongs to another user: `{trust}`."
    elif "No space left" in result.err or "Disk quota exceeded" in result.err:
        hint = "The disk is full: make room and run the command again."
    elif "Read-only file system" in result.err or "Permission denied" in result.err:
        hint = "The repository cannot be written: set GHP_STATE_DIR to a folder that can."
    return GitError(f"`git {_verb(args)}` failed: {reason}", hint=hint, stderr=result.err)


@contextlib.contextmanager
def objects(
    git_dir: Path, env: Mapping[str, str] | None = None, *, largest: int | None = None
) -> Iterator["ObjectReader"]:
    """Read many objects through one process; objects above `largest` bytes without content."""
    try:
        process = subprocess.Popen(
            _command(["cat-file", "--batch"], git_dir),
            cwd=git_dir,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(env),
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise _not_started(error, git_dir) from None
    assert process.stdin is not None
    assert process.stdout is not None
    is_read = False
    try:
        yield ObjectReader(process.stdin, process.stdout, largest)
        is_read = True
    finally:
        if not is_read:
            _end(process)  # otherwise the wait for a hanging process never ends
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        process.wait()


class ObjectReader:
    """A client of a `git cat-file --batch` process."""

    # Requests are written before replies are read, so a batch must fit any pipe. A user with many
    # pipes gets only 4 kB each.
    _AT_ONCE = 4_000

    def __init__(self, requests: IO[bytes], answers: IO[bytes], largest: int | None = None) -> None:
        self._requests = requests
        self._answers = answers
        self._largest = largest

    def read(self, names: Sequence[str]) -> list[Object | None]:
        """The objects `names` (an oid, or `<ref>:<path>`); None for each missing one.

        Raises GitError if git exits early.
        """
        try:
            return [found for some in self._portions(names) for found in self._ask(some)]
        except BrokenPipeError:
            raise _ended_early() from None

    def _portions(self, names: Sequence[str]) -> Iterator[list[str]]:
        some: list[str] = []
        size = 0
        for name in names:
            length = len(name.encode("utf-8", "surrogateescape")) + 1
            if some and size + length > self._AT_ONCE:
                yield some
                some, size = [], 0
            some.append(name)
            size += length
        if some:
            yield some

    def _ask(self, names: Sequence[str]) -> list[Object | None]:
        # A name with a line end would be two requests; no object has such a name.
        requests = ["" if "\n" in name else name for name in names]
        lines = "".join(f"{name}\n" for name in requests)
        self._requests.write(lines.encode("utf-8", "surrogateescape"))
        self._requests.flush()
        return [self._answer() for _ in names]

    def _answer(self) -> Object | None:
        header = self._answers.readline()
        if not header.endswith(b"\n"):
            raise _ended_early()
        # For a missing object git prints its name, which may contain spaces, and one of these
        # words.
        if header.endswith((b" missing\n", b" ambiguous\n")):
            return None
        oid, kind, length = header.split()
        size = int(length)
        is_cut = self._largest is not None and size > self._largest
        content = b"" if is_cut else self._answers.read(size)
        passed = self._pass_over(size) if is_cut else len(content)
        if passed != size or self._answers.read(1) != b"\n":
            raise _ended_early()
        return Object(oid.decode(), kind.decode(), content, is_cut)

    def _pass_over(self, size: int) -> int:
        left = size
        while left and (some := self._answers.read(min(left, 1_000_000))):
            left -= len(some)
        return size - left


def _ended_early() -> GitError:
    return GitError(
        "`git cat-file` ended early.", hint="The state may be damaged: run `ghp agent-doctor`."
    )


class TreeEntry(NamedTuple):
    """One line of a tree."""

    mode: str
    name: str
    oid: str


def tree_entries(content: bytes, oid_length: int) -> list[TreeEntry]:
    """The entries of a tree object; `oid_length` counts hex digits (40, or 64 for sha256)."""
    entries: list[TreeEntry] = []
    width = oid_length // 2
    position = 0
    while position < len(content):
        end = content.index(b"\0", position)
        mode, _, name = content[position:end].partition(b" ")
        oid = content[end + 1 : end + 1 + width].hex()
        entries.append(TreeEntry(mode.decode(), name.decode("utf-8", "surrogateescape"), oid))
        position = end + 1 + width
    return entries


def config(cwd: Path, key: str) -> str | None:
    """A value of git's configuration, or None."""
    result = run(["config", "--get", key], cwd=cwd)
    return result.text if result.code == 0 else None


def version() -> tuple[int, ...]:
    """The installed git's version, as (2, 39, 5)."""
    words = check(["version"], cwd=Path("/")).text.split()
    numbers = [part for part in words[2].split(".") if part.isdigit()]
    return tuple(int(number) for number in numbers)


def run_gitpython(folder: Path, git_dir: Path, *args: str) -> str | None:
    """The output of a git command on a person's history and worktree, by GitPython; None if it
    fails.

    Only its command runner is used: its objects fail in sha256 repositories (measured with 3.2.1:
    ValueError), and its refs in reftable ones.
    """
    import git as gitpython

    # GitPython adds its own variables to the process's environment.
    env = environment(dict.fromkeys(TOKENS, ""))
    if "GIT_DIR" in os.environ:  # inside a hook, perhaps of another worktree
        env["GIT_DIR"] = str(git_dir)
    try:
        code, out, _ = gitpython.Git(folder).execute(
            ["git", *_FLAGS, *args],
            env=env,
            with_exceptions=False,
            with_extended_output=True,
            strip_newline_in_stdout=True,
        )
    except gitpython.GitError as error:
        raise GitError(f"`git {args[0]}` failed: {error}", hint="Run `ghp agent-doctor`.") from None
    return str(out) if code == 0 else None


def _command(args: Sequence[str], git_dir: Path | None) -> list[str]:
    # `--git-dir` turns off git's own checks: of the owner, `safe.directory` and
    # `safe.bareRepository`. That is safe: `locate` and `discovery` return only repositories that
    # belong to the user, or that git itself accepted.
    where = ["--git-dir", str(git_dir)] if git_dir else []
    return ["git", *_FLAGS, *where, *args]


def _verb(args: Sequence[str]) -> str:
    words = list(args)
    while words[0] == "-c":
        del words[:2]
    return words[0]


def _not_started(error: FileNotFoundError, cwd: Path) -> NotSetUpError:
    if not cwd.is_dir():
        return NotSetUpError(
            f"The folder {cwd} is not there (any more).",
            hint="Change to a folder of the repository and try again.",
        )
    return NotSetUpError(
        f"git cannot be started: {error.strerror}.", hint="Install git 2.31 or newer."
    )
