"""Starts a client's hook once in a worktree, as the client would, to see that it guards.

The command is the one in the client's file. The message is harmless: see `hooks/trial.py`.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import process, user_file
from ghp_agents.core.errors import GhpError
from ghp_agents.git import at_once
from ghp_agents.integrations.clients import config_files, hook_entries
from ghp_agents.integrations.clients import install as client_hooks
from ghp_agents.integrations.clients.config_files import ConfigFile
from ghp_agents.integrations.clients.hook_entries import HOMES, PLUGINS
from ghp_agents.workspace import Workspace

TIMEOUT_S = 10.0  # seconds; a hook takes 0.1 s, and clients wait for 10 s
MOST = 4_096  # bytes of the answer


class Unguarded(NamedTuple):
    """A client whose hook does not guard a worktree, and why."""

    target: ConfigFile
    top: Path
    why: str

    @property
    def fact(self) -> str:
        """The finding, for people."""
        title = HOMES[self.target.client].title
        return f"The hooks of {title} do not guard {self.top}: {self.why}."

    @property
    def remedy(self) -> str:
        """What to do."""
        return f"ghp agent-init --hooks {self.target.client}"


def unguarded(ws: Workspace, tops: Sequence[Path]) -> list[Unguarded]:
    """The clients with hooks that do not guard these worktrees, all tried at once."""
    places = [place for top in tops for place in _places(ws, top)]
    tried = at_once.each(lambda place: (place, _failure(ws, *place)), places)
    return [Unguarded(target, top, why) for (target, top), why in tried if why]


def _places(ws: Workspace, top: Path) -> Iterator[tuple[ConfigFile, Path]]:
    """The files of each client that it reads in a worktree: its own, else the user's."""
    for client in HOMES:
        users = config_files.users(ws.environ, client)
        for target in (config_files.in_worktree(ws, client, top), users):
            if client_hooks.python_in(target) is not None:
                yield target, top
                break


def _failure(ws: Workspace, target: ConfigFile, top: Path) -> str:
    """Why the hook does not guard the worktree; empty if it does."""
    message = json.dumps({"ghp_trial": True, "cwd": str(top)}).encode()
    try:
        command = _command(target)
        out = process.pipe(
            command, message, cwd=top, env=ws.environ, timeout=TIMEOUT_S, most=MOST
        )  # fmt: skip
        answer = json.loads(out)
    except OSError as error:
        return f"its command cannot be started ({error.strerror})"
    except GhpError as error:
        return str(error).removesuffix(".")
    except ValueError:
        return "its command gives no answer"
    if not isinstance(answer, dict) or "guarded" not in answer:
        why = answer.get("why") if isinstance(answer, dict) else None
        return str(why or "its command gives no answer")
    same = Path(str(answer["guarded"])).resolve() == top.resolve()
    return "" if same else f"it guards {answer['guarded']} instead"


def _command(target: ConfigFile) -> list[str]:
    """What the client starts: the command of the first of our entries. Raises GhpError."""
    text = user_file.read_text(target.path) or ""
    if target.client in PLUGINS:
        return hook_entries.hook_command(client_hooks.python_of_plugin(text) or "", target.client)
    command, args = hook_entries.first_command(text)
    return ["sh", "-c", command] if args is None else [command, *args]
