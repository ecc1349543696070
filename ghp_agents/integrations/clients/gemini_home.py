"""A home of Gemini CLI for one run: its user's own, with our hook for all tools in the settings.

Gemini has no option for a hook, and takes settings of the system from files of root only.
"""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from ghp_agents.core import files, user_file
from ghp_agents.integrations.clients import hook_entries

VARIABLE = "GEMINI_CLI_HOME"
FOLDER, SETTINGS = ".gemini", "settings.json"
SESSIONS = "tmp"  # a later run goes on with them
HOOK_MS = 10_000


def make(place: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Make the home in a run's folder; returns the variable that names it. Raises GhpError for
    settings that cannot be read, OSError."""
    users = Path(environ.get(VARIABLE) or environ.get("HOME") or "/") / FOLDER
    own = place / "gemini" / FOLDER
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    (users / SESSIONS).mkdir(parents=True, exist_ok=True)
    for entry in users.iterdir():
        if entry.name != SETTINGS and not (own / entry.name).is_symlink():
            (own / entry.name).symlink_to(entry)
    text = user_file.read_text(users / SETTINGS) or "{}"
    files.write_atomically(own / SETTINGS, with_hook(text).encode())
    return {VARIABLE: str(place / "gemini")}


def settings(place: Path) -> list[Path]:
    """The settings of the home in a run's folder, if there is one: with our hook, so a sandbox
    keeps them from being written."""
    path = place / "gemini" / FOLDER / SETTINGS
    return [path] if path.is_file() else []


def with_hook(text: str) -> str:
    """Settings with our hook for all tools. Without an answer the tool is refused."""
    command = shlex.join(hook_entries.hook_command(sys.executable, "gemini"))
    handler = {"type": "command", "command": f"{command} || exit 2", "timeout": HOOK_MS}
    return hook_entries.add(text, "BeforeTool", {"hooks": [handler]})
