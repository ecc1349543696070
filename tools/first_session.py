"""Types the commands of docs/first-session.md in a new folder, and writes their outputs there.

`python -m tools.first_session`. A block `console` has commands (`$ …`) and their outputs; its title
is its terminal. A block without a command shows what goes on in its terminal. A block of another
language with a title is a file. Ids, times and paths are replaced by lasting ones.
"""

import contextlib
import fcntl
import hashlib
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import textwrap
from pathlib import Path

HERE = Path(__file__).parents[1]
PAGE = HERE / "docs/first-session.md"
STAND_IN = HERE / "tools/claude_stand_in.py"
WIDTH = 100
WAITS = "To answer: "  # what a session prints before it waits for its person

_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.M | re.S
)
_ID = re.compile(r"\b(?P<kind>[EHLN]-|)(?P<hex>[0-9a-f]{7,40}|(?<=-)[0-9a-f]{4,12})\b")
_TIMES = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "2026-05-04T09:30:00Z"),
    (re.compile(r"\b\d\d:\d\d UTC"), "09:30 UTC"),
    (re.compile(r"\b(since|at) \d\d:\d\d\b"), r"\1 09:30"),
    (re.compile(r"\b\d+ s ago"), "5 s ago"),
    (re.compile(r"\b\d+s\b"), "5s"),
)


class Names:
    """Lasting ids and times in place of the real ones."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._known: list[tuple[str, str, str]] = []  # kind, real, lasting

    def hide(self, text: str) -> str:
        """The text with lasting ids, times and paths."""
        text = text.replace(self._root, "")
        for pattern, lasting in _TIMES:
            text = pattern.sub(lasting, text)
        return _ID.sub(
            lambda match: match["kind"] + self._lasting(*match.group("kind", "hex")), text
        )

    def show(self, command: str) -> str:
        """A command with the real id of the last question in place of the one on the page."""
        questions = [real for kind, real, _ in self._known if kind == "E-"]
        return re.sub(r"\bE-[0-9a-f]+", f"E-{questions[-1][:4]}", command) if questions else command

    def _lasting(self, kind: str, real: str) -> str:
        for _, known, lasting in self._known:
            if known.startswith(real) or real.startswith(known):
                return lasting[: len(real)]
        lasting = hashlib.sha256(str(len(self._known)).encode()).hexdigest()
        self._known.append((kind, real, lasting))
        return lasting[: len(real)]


class Screen:
    """A terminal without colors, in which one command runs."""

    def __init__(self, command: str, folder: Path, env: dict[str, str]) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
        self._process = subprocess.Popen(
            ["bash", "-c", command], cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        self._shown = os.fdopen(ours, encoding="utf-8")

    def lines(self) -> list[str]:
        """What is shown until the command ends or waits for a person. It must end with 0."""
        lines = []
        with contextlib.suppress(OSError):  # Linux: the end of a terminal whose command has ended
            for line in self._shown:
                lines.append(line.rstrip())
                if WAITS in line:
                    return lines
        self._shown.close()
        assert self._process.wait() == 0, "\n".join(lines)
        return lines


class Player:
    """Plays the blocks of the page below a folder."""

    def __init__(self, root: Path) -> None:
        self._names = Names(root)
        self._folder = root / "home/dana"
        self._env = environment(root)
        self._screens: dict[str, Screen] = {}

    def block(self, match: re.Match[str]) -> str:
        """One block of the page, as it is today."""
        title, text = match["title"], match["text"]
        if match["language"] == "console":
            commands = [line for line in text.splitlines() if line.startswith("$ ")]
            shown = "".join(self._command(line, title) for line in commands)
            text = shown if commands else self._rest(title)
        elif title:
            path = self._folder / title
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        first = match[0].partition("\n")[0]
        return f"{first}\n{text}```"

    def _command(self, line: str, title: str | None) -> str:
        command = self._names.show(line.removeprefix("$ "))
        if command.startswith("cd "):
            self._folder /= command.removeprefix("cd ")
            return f"{line}\n"
        self._screens[title or ""] = Screen(command, self._folder, self._env)
        return self._names.hide(f"$ {command}\n") + self._rest(title)

    def _rest(self, title: str | None) -> str:
        """What a terminal shows until its command ends or waits for a person."""
        lines = self._screens[title or ""].lines()
        return "".join(f"{self._fit(self._names.hide(line))}\n" for line in lines)

    def _fit(self, line: str) -> str:
        indent = "    " if line.startswith("  ⎿") else ""
        parts = textwrap.wrap(line, WIDTH, subsequent_indent=indent) if indent else [line]
        return "\n".join(parts)


def environment(root: Path) -> dict[str, str]:
    """A home with a git identity, and a PATH on which our programs and the stand-in come first."""
    home, bin = root / "home/dana", root / "bin"
    home.mkdir(parents=True)
    bin.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Dana\n\temail = dana@example.org\n")
    programs = {
        "ghp": "-P -m ghp_agents",
        "ghp-agents": "-P -m ghp_agents",
        "claude": str(STAND_IN),
    }
    for name, words in programs.items():
        (bin / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (bin / name).chmod(0o755)
    return {
        "HOME": str(home), "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(HERE), "LC_ALL": "C.UTF-8", "TZ": "UTC",
        "TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat",
        "GIT_CONFIG_NOSYSTEM": "1", "GHP_ANCESTORS": "0", "GHP_BACKGROUND": "0",
    }  # fmt: skip


def play(page: str, root: Path) -> str:
    """The page with the outputs of today, from repositories below `root`."""
    return _BLOCK.sub(Player(root).block, page)


def without_spaces(page: str) -> str:
    """The page with one space for several, because columns are as wide as what is in them."""
    return re.sub(" +", " ", page)


def main() -> None:
    """Write the page."""
    with tempfile.TemporaryDirectory() as folder:
        page = play(PAGE.read_text(encoding="utf-8"), Path(folder).resolve())
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
