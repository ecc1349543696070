"""Long output in the person's pager, as git and gh do: `$GHP_PAGER`, else what git would use."""

import contextlib
import io
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ghp_agents.cli import output
from ghp_agents.core.person import agent_here

# For less and lv, as git sets them: quit if it fits on one screen, keep colours and the screen.
DEFAULTS = {"LESS": "FRX", "LV": "-c"}


class _Paged(io.TextIOWrapper):
    """A stream that ends on the person's terminal."""

    def isatty(self) -> bool:
        """Whether colours and tables are shown."""
        return True


@contextlib.contextmanager
def paged() -> Iterator[None]:
    """Show what the block prints in a pager, if a person looks: not elsewhere, not for an agent."""
    program = _program()
    if not program:
        yield
        return
    from ghp_agents.core import process as processes  # imports subprocess

    output.flush()
    terminal = sys.stdout
    with processes.reader(program, DEFAULTS | os.environ) as pipe:
        sys.stdout = _Paged(pipe, encoding="utf-8", errors="surrogateescape")
        try:
            yield
        except BrokenPipeError:  # the person has seen enough
            pass
        finally:
            stream, sys.stdout = sys.stdout, terminal
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def show(lines: Iterable[str]) -> None:
    """Print the lines of a page in a pager, if a person looks."""
    with paged():
        for line in lines:
            output.page(line)


def _program() -> str:
    """The pager's command line; empty if output needs none."""
    if not output.is_terminal() or output.is_set(output.NO_PAGER) or agent_here(os.environ):
        return ""
    program = os.environ.get("GHP_PAGER")
    if program is None:
        from ghp_agents.git import process as git

        program = git.run(["var", "GIT_PAGER"], cwd=Path.cwd()).text
    try:
        words = shlex.split(program)
    except ValueError as error:  # an unclosed quotation mark
        output.warn(
            f"The pager is not used, because its command `{program}` is not complete: {error}.",
            "Correct GHP_PAGER, or git's core.pager.",
        )
        return ""
    return program if words and words[0] != "cat" and shutil.which(words[0]) else ""
