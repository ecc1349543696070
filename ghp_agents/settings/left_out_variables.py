"""A line for people, said once: which variables with credentials a command does not get.

Who passes one on differs: a setting for checks and set-up commands, an option for runs and tasks.
So each way is said once for each clone and variable.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from ghp_agents.core.child_env import credentials_left_out
from ghp_agents.core.ids import listed
from ghp_agents.core.json_file import texts_file

FOLDER = "left-out-variables"  # in the clone's folder in the home: the names that were said
KEPT = 500  # names of each way
SHOWN = 8
SETTING, OPTION = "setting", "option"  # who passes one on
_HINTS = {
    SETTING: "Your own setting `agents.checksKeepEnv` passes one on.",
    OPTION: "--keep-env NAME passes one on.",
}


def note(home: str, environ: Mapping[str, str], keep: Collection[str], who: str, way: str) -> str:
    """What to say of variables that `who` does not get and that were not said before; empty if
    there are none. `home` is the clone's folder in the home, `way` is SETTING or OPTION."""
    names = credentials_left_out(environ, keep)
    file = texts_file(Path(home, FOLDER, f"{way}.json"))
    before = file.read() if names else []
    new = [name for name in names if name not in before]
    if not new:
        return ""
    file.write([*before, *new[:SHOWN]][-KEPT:])  # the others are named the next time
    return f"Credentials that {who} not get: {listed(new, SHOWN)}. {_HINTS[way]}"
