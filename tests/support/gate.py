"""A git that stops at a gate: put on PATH, it waits before one of its commands until it is let go.

With it a race is no matter of luck: what happens meanwhile happens meanwhile.
"""

import os
import shutil
from pathlib import Path

from tests.support.hosts import executable


class Gate:
    """A gate in the way of the first `git COMMAND` that has this gate's PATH."""

    def __init__(self, folder: Path, command: str) -> None:
        self._arrived, self._let_go = folder / "arrived", folder / "let-go"
        real = shutil.which("git")
        executable(
            folder / "bin/git",
            f'case " $* " in *" {command} "*)\n'
            f"  if mkdir {folder}/stopped 2>/dev/null; then\n"
            # It has all of its input before it says that it is there: who is killed from now on
            # has said what it had to say.
            f"    cat > {folder}/input; echo $$ > {self._arrived}; read line < {self._let_go}\n"
            f'    exec {real} "$@" < {folder}/input\n'
            "  fi;;\n"
            "esac\n"
            f'exec {real} "$@"\n',
        )
        for pipe in (self._arrived, self._let_go):
            os.mkfifo(pipe)
        self.env = {"PATH": f"{folder}/bin:{os.environ['PATH']}"}

    def wait(self) -> int:
        """Wait until git stands at the gate; its process number."""
        return int(self._arrived.read_text())

    def open(self) -> None:
        """Let it go on."""
        self._let_go.write_text("go\n")
