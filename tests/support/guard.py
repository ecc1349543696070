"""The environment in which tests run: nothing of the user's gets in, nothing of theirs gets out.

A coding agent runs these tests as often as a person does, inside its own session, with its own
variables set, in a repository that is coordinated by this very tool.
"""

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path

# Variables that would change what git, our program or the libraries behind its doors do.
FOREIGN = (
    "AGENT", "AIDER", "ANTHROPIC_", "CI", "CLAUDE", "CLICOLOR", "CODEX", "COLUMNS", "CURSOR",
    "EDITOR", "EMAIL", "FORCE_COLOR", "GEMINI", "GH_", "GHP_", "GIT_", "GITHUB_", "GOOSE", "LINES",
    "MEM0", "NO_COLOR", "OPENAI_", "OPENCODE", "PAGER", "SSH_", "VISUAL", "XDG_",
)  # fmt: skip

GIT_CONFIG = """\
[user]
\tname = Test Person
\temail = person@example.invalid
[init]
\tdefaultBranch = main
"""


def scrubbed(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` without what is foreign."""
    return {name: value for name, value in environ.items() if not name.startswith(FOREIGN)}


def at_home(home: Path) -> dict[str, str]:
    """The variables that make `home` the user's home."""
    return {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_RUNTIME_DIR": str(home / ".run"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
    }


def furnish(home: Path) -> None:
    """Put into a new home what git needs there."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(GIT_CONFIG)


def shield(home: Path) -> None:
    """Give this process, and so all it starts, an environment of its own."""
    furnish(home)
    clean = scrubbed(os.environ) | at_home(home)
    clean |= {
        "GHP_BACKGROUND": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
        "TZ": "ODD-05:45",  # whoever mixes local time into a record is found out
    }
    os.environ.clear()
    os.environ.update(clean)
    time.tzset()
    # A shell that starts the tests in the background makes them, and all they start, deaf to
    # interrupts; `nohup` to the end of the session.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
