"""Take the logins that a person has stored from the programs of a run, and give them to our own.

`gh` reads its login from a folder or a keyring, and git asks credential helpers. Variables lead
them to nothing. Our own git and our questions to `gh` undo that: they send what an agent finished,
and show it no secret. A program that undoes it, too, reaches the login; only a sandbox hides it.
"""

import json
from collections.abc import Mapping
from pathlib import Path

COUNT = "GIT_CONFIG_COUNT"
VARIABLE = "GHP_STORED_LOGINS"  # the former values of what was changed, or HIDDEN
HIDDEN = "hidden"  # in a sandbox without the files there is nothing to undo
# An empty helper clears the list of those that the configuration names.
OFF = (("credential.helper", ""), ("core.askPass", ""))
NO_KEYRING = "disabled:"  # an address of D-Bus that nothing answers


def taken(environ: Mapping[str, str], folder: Path, *, hidden: bool = False) -> dict[str, str]:
    """The variables that take stored logins away; `folder` is an empty one, for `gh`."""
    count = environ.get(COUNT, "")
    before = int(count) if count.isdecimal() and len(count) < 5 else 0
    values = {
        "GH_CONFIG_DIR": str(folder), "DBUS_SESSION_BUS_ADDRESS": NO_KEYRING,
        "GIT_TERMINAL_PROMPT": "0", **_settings(before),
    }  # fmt: skip
    former = json.dumps({name: environ.get(name) for name in values})
    return {VARIABLE: HIDDEN if hidden else former, **values}


def _settings(before: int) -> dict[str, str]:
    settings = {COUNT: str(before + len(OFF))}
    for number, (name, value) in enumerate(OFF, before):
        settings |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return settings


def given_back(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with the logins, for our own git and for `gh`."""
    env = dict(environ)
    for name, value in _former(env.pop(VARIABLE, "")).items():
        env.pop(name, None)
        env |= {name: value} if isinstance(value, str) else {}
    return env


def _former(text: str) -> dict[str, object]:
    try:
        values = json.loads(text) if text and text != HIDDEN else {}
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def for_children(environ: Mapping[str, str]) -> dict[str, str]:
    """What keeps the logins away from a command whose environment has no settings of git."""
    return _settings(0) if VARIABLE in environ else {}


def names(environ: Mapping[str, str]) -> list[str]:
    """The variables that keep the logins away, for programs that pass on few."""
    return [VARIABLE, *_former(environ.get(VARIABLE, ""))]


def are_hidden(environ: Mapping[str, str]) -> bool:
    """Whether a sandbox hides the logins, so that `gh` needs not be asked."""
    return environ.get(VARIABLE) == HIDDEN
