"""A sentence for an agent, said once: a configuration file cannot be read."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.ids import one_line

FOLDER = "unread-config"  # in the clone's folder in the home: what each agent was told
LIMIT = 300  # characters of a reason


def sentence(home: str, agent: str, troubles: Sequence[str]) -> str:
    """What the agent was not told yet about these troubles. `home` is the clone's folder there."""
    path = Path(home, FOLDER, agent)
    text = " ".join(one_line(trouble, LIMIT) for trouble in troubles)
    if _told(path) == text:
        return ""
    with contextlib.suppress(OSError):  # else it is said again
        files.write_atomically(path, text.encode("utf-8", "replace"))
    if not text:
        return ""
    return (
        f"A configuration file cannot be read, so its last values stay in force: {text} "
        "Tell your person; `ghp agent-doctor` checks the file again."
    )


def _told(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
