"""A program that is killed at one of its calls of git."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.support.ghp import Result, run_ghp
from tests.support.hosts import executable


class Killer:
    """A `git` that takes the program with it, at its n-th call, and then does what it was asked, or
    not."""

    def __init__(self, folder: Path, *, does_it: bool = True) -> None:
        self.count, self.at = folder / "count", folder / "at"
        real = shutil.which("git")
        self.bin = folder / "bin"
        executable(
            self.bin / "git",
            f"echo >> {self.count}\n"
            f'[ "$(wc -l < {self.count})" -eq "$(cat {self.at})" ] && '
            f"{{ kill -9 $PPID; {'true' if does_it else 'exit 1'}; }}\n"
            f'exec {real} "$@"\n',
        )

    def run(self, args: str, cwd: Path, at: int) -> Result:
        """A command that is killed at its n-th call of git."""
        self.count.write_text("")
        self.at.write_text(f"{at}\n")
        return run_ghp(args, cwd, self.environ)

    @property
    def environ(self) -> Mapping[str, str]:
        return {"PATH": f"{self.bin}:{os.environ['PATH']}", "GHP_BACKGROUND": "0"}
