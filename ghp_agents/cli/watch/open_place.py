"""Opens a worktree in an editor or a shell, and a pull request in a browser."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ghp_agents.cli.watch.look import OpenTarget
from ghp_agents.core import process

TIMEOUT_S = 15.0  # seconds for the program that starts a browser
OPENERS = ("xdg-open", "open")


def of_worktree(path: str, environ: Mapping[str, str]) -> Iterator[OpenTarget]:
    """The ways to open a worktree on this machine."""
    editor = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        words = shlex.split(editor)
    except ValueError:  # an unclosed quotation mark
        words = []
    if words:
        yield OpenTarget("w", f"worktree in {Path(words[0]).name}", path, (*words, path))
    shell = environ.get("SHELL") or "/bin/sh"
    yield OpenTarget("s", "shell in the worktree; `exit` comes back", path, (shell,))
    yield OpenTarget("c", f"copy the path: {path}", path)


def browse(url: str, environ: Mapping[str, str]) -> str:
    """Show a page in the browser; returns a message with its address. Raises GhpError."""
    if not url.startswith(("https://", "http://")) or not url.isprintable():
        return "The address of the page is not one of the web."
    opener = next(filter(None, map(shutil.which, OPENERS)), None)
    has_screen = sys.platform == "darwin" or any(
        environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if opener is None or not has_screen:
        return f"No browser on this machine. The page: {url}"
    done = process.run([opener, url], cwd=Path("/"), env=os.environ, timeout=TIMEOUT_S)
    return f"Opened {url}" if done.code == 0 else f"No browser was started. The page: {url}"
