"""Pass all other commands to the next `ghp` on PATH: upstream's, if it is installed."""

import os
import sys
from collections.abc import Mapping, Sequence

from ghp_agents.cli import output
from ghp_agents.core.errors import ExitCode
from ghp_agents.core.ids import one_line

GUARD = "GHP_AGENTS_HANDOVER"  # the last process that handed over, and the number of times
SHOWN = 60  # characters of an unknown command
DEEPEST = 10  # nested calls: upstream starts agents, which call `ghp` again


def hand_over(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Replace this process with upstream's `ghp` and the same arguments; an error if it is missing.

    The variable GUARD ends a loop of two installations of ghp-agents that find each other.
    """
    process, _, times = environ.get(GUARD, "").partition(" ")
    count = int(times) if times.isdecimal() else 0
    is_loop = process == str(os.getpid()) or count >= DEEPEST
    program = None if is_loop else next_ghp(environ)
    if program is None:
        looped = " (two installations of ghp-agents would call each other)" if is_loop else ""
        word = one_line(argv[0], SHOWN)
        output.error(
            f"ghp-agents has no command `ghp {word}`, and no other `ghp` is on PATH{looped}.",
            f"{_suggestions(word)}Our commands start with `agent-`: see `ghp --help`. All others "
            "need upstream GHP.",
        )
        return int(ExitCode.ERROR if is_loop else ExitCode.USAGE)
    try:
        guard = f"{os.getpid()} {count + 1}"
        os.execve(program, ["ghp", *argv], {**environ, GUARD: guard})
    except OSError as error:
        output.error(
            f"Cannot start {program}: {error.strerror}.",
            "Repair or remove that file. `ghp-agents` always runs this program.",
        )
        return int(ExitCode.ERROR)


def _suggestions(word: str) -> str:
    """Our commands that are similar to `word`, as a question."""
    from ghp_agents.cli import aliases
    from ghp_agents.cli.app import COMMANDS
    from ghp_agents.cli.terminal.closest import closest

    bare = [name.removeprefix(aliases.PREFIX) for name in COMMANDS]
    similar = [f"{aliases.PREFIX}{name}" for name in closest(word, bare)]
    alike = closest(word, list(COMMANDS)) or aliases.suggested(word) or similar
    names = " or ".join(f"`ghp {name}`" for name in alike)
    return f"Did you mean {names}? " if alike else ""


def next_ghp(environ: Mapping[str, str]) -> str | None:
    """The first `ghp` on PATH that is not this program."""
    ours = os.path.realpath(sys.argv[0])
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder or os.curdir, "ghp")
        if not os.path.isfile(path) or not os.access(path, os.X_OK):
            continue
        if os.path.realpath(path) != ours and not _is_ours(path):
            return path
    return None


def _is_ours(path: str) -> bool:
    """Whether a `ghp` is an entry script of this package, in this environment or another."""
    try:
        with open(path, "rb") as file:
            return b"ghp_agents" in file.read(2_000)
    except OSError:
        return False
