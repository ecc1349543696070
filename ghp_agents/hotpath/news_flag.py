"""A bell for each agent of a clone: it rings when there is something to tell, so that a hook that
runs after every tool call need not look into the state each time.

It only saves work. At the beginning and the end of a turn one looks whether it rang or not.
"""

import os

from ghp_agents.hotpath import own_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def set_flag(folders: "Sequence[str]", agent: str) -> None:
    """Let `agent` look for news at its next step, if it is one of this clone."""
    if "/" in agent or not any(os.path.exists(f"{one}/agents/{agent}.json") for one in folders):
        return
    for folder in folders:
        path = _path(folder, agent)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            own_file.touch(path)
        except OSError:
            continue
        return


def is_set(folders: "Sequence[str]", agent: str) -> bool:
    """Whether there may be news for `agent`."""
    return any(os.path.exists(_path(folder, agent)) for folder in folders)


def clear(folders: "Sequence[str]", agent: str) -> None:
    """Let it be still; to be done before one looks, so that what comes meanwhile rings again."""
    for folder in folders:
        try:
            os.unlink(_path(folder, agent))
        except OSError:
            continue


def _path(folder: str, agent: str) -> str:
    return folder + "/cache/bell/" + agent
