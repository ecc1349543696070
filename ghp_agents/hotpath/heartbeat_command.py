"""The fast path of `agent-heartbeat`: it must cost about as much as starting Python."""

import os
import time

from ghp_agents.hotpath import background, boot_clock, heartbeat, own_name, presence_file
from ghp_agents.hotpath.locate import locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_OPTIONS = {"--status": "status", "--issue": "issue", "--action": "lastAction", "--as": "agent"}


def run(argv: "Sequence[str]", environ: "Mapping[str, str]") -> bool:
    """`agent-heartbeat` with plain options, from `argv` after the command's name.

    Returns False if the slow path must take over: help, errors, a first heartbeat, unusual
    options, or a status of an agent that has stopped.
    """
    fields = parse(argv)
    if fields is None:
        return False
    place = locate(os.getcwd(), environ)
    if place is None:
        return False
    agent = fields.pop("agent", None) or own_name.whoami(place, environ)
    if not agent or not heartbeat.is_name(agent):
        return False
    folders = heartbeat.state_folders(place.common_dir, environ)
    if fields.get("status") not in (None, "stopped") and _has_stopped(folders, agent):
        return False  # it begins another life, which only the slow path can register
    progress = fields.pop("progress", False)
    settings = heartbeat.read_settings(place.common_dir, environ)
    now = time.time()
    fields |= heartbeat.surroundings_of(place, agent, presence_file.newest(folders, agent))
    beaten = heartbeat.beat(
        folders,
        agent,
        fields,
        now,
        session=heartbeat.session(environ)[1],
        progress=bool(progress),
        throttle=settings.get("throttle", heartbeat.THROTTLE),
        pid=heartbeat.agent_pid(environ),
        moment=boot_clock.read(),
    )
    if beaten is None:
        return False
    background.start_sync(folders, environ, now, settings, urgent=beaten == "moved")
    return True


def _has_stopped(folders: "Sequence[str]", agent: str) -> bool:
    before = presence_file.newest(folders, agent)
    return before is not None and before.get("status") == "stopped"


def parse(argv: "Sequence[str]") -> "dict[str, Any] | None":
    """The values of plain options; None if only the slow path can parse them."""
    fields: dict[str, Any] = {}
    words = iter(argv)
    for word in words:
        if word == "--progress":
            fields["progress"] = True
            continue
        field = _OPTIONS.get(word)
        value = next(words, None) if field else None
        if field is None or value is None or value.startswith("-"):
            return None
        fields[field] = value
    issue = fields.get("issue")
    if issue is not None:
        number = issue.removeprefix("#")
        if not (number.isascii() and number.isdigit() and len(number) < 16 and int(number) > 0):
            return None
        fields["issue"] = int(number)
    status = fields.get("status")
    if status is not None and status not in heartbeat.KNOWN_STATUSES:
        return None
    if "lastAction" in fields:
        fields["lastAction"] = heartbeat.clean_action(fields["lastAction"])
    return fields
