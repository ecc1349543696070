"""A flag file for each agent of a clone: set if there may be news for it. So a hook that runs after
every tool call need not read the state each time.

It only saves work: at the beginning and end of a turn, news is read in any case.
"""

import os

from ghp_agents.hotpath import own_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def set_flag(folders: "Sequence[str]", agent: str) -> None:
    """Set the flag of `agent`, if it is an agent of this clone."""
    if "/" in agent or not any(
        os.path.exists(f"{folder}/agents/{agent}.json") for folder in folders
    ):
        return
    for folder in folders:
        path = _path(folder, agent)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            own_file.touch(path)
        except OSError:
            continue
        return


def set_for_others(folders: "Sequence[str]", author: str) -> None:
    """Set the flag of all agents of this clone except the author of the news."""
    for folder in folders:
        try:
            names = [name[:-5] for name in os.listdir(f"{folder}/agents") if name[-5:] == ".json"]
        except OSError:
            continue
        for name in names:
            if name != author:
                set_flag(folders, name)


def is_set(folders: "Sequence[str]", agent: str) -> bool:
    """Whether there may be news for `agent`."""
    return any(os.path.exists(_path(folder, agent)) for folder in folders)


def set_at(folders: "Sequence[str]", agent: str) -> float:
    """When the flag of `agent` was set; 0 if it is not."""
    for folder in folders:
        try:
            return os.stat(_path(folder, agent)).st_mtime
        except OSError:
            continue
    return 0.0


def clear(folders: "Sequence[str]", agent: str) -> None:
    """Clear the flag. Do this before reading news, so that later news sets it again."""
    for folder in folders:
        try:
            os.unlink(_path(folder, agent))
        except OSError:
            continue


def _path(folder: str, agent: str) -> str:
    return folder + "/cache/bell/" + agent
