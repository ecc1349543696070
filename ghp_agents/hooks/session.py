"""The start, prompts and end of a session: presence, identity, and what to continue."""

import os
import sys

from ghp_agents.hooks import usage
from ghp_agents.hooks.event import Reply
from ghp_agents.hooks.presence import beat, begin
from ghp_agents.hotpath import (
    background,
    error_log,
    heartbeat,
    implicit_leases,
    news_flag,
    own_file,
    own_name,
    process_start,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ghp_agents.hooks.scene import HookContext

BEGIN_WITH_PROMPT = ("qwen",)  # their sessions begin with the first prompt
RESTING = ("idle", "stopped", "waiting")
PROGRAM = "ghp"
ENV_FILES = ("CLAUDE_ENV_FILE", "CODEX_ENV_FILE")  # sourced before the agent's shell commands
NAMING = ("copilot",)  # their shells have the variable with the session's id
EXPORTING = ("openai", "opencode", "pi")  # our plugin gives the shell the variables of a reply
END_TIMEOUT_S = 0.3  # seconds; clients allow a second or two at the end


def start(context: "HookContext") -> Reply:
    """Register the agent; tell it its name and what it needs to continue."""
    fields: dict[str, Any] = {}
    before = context.presence() or {}
    if before.get("status", "stopped") == "stopped":
        fields["status"] = "idle"
    ids = context.event.session or "", process_start.key(heartbeat.agent_pid(context.environ))
    own_name.keep(context.folders, ids, context.agent, context.now)
    begin(context, fields)
    usage.begin(context)
    _keep_way_in(context)
    first = _first_of_name(context)
    if first:
        news_flag.set_flag(context.folders, first)
    settings = context.settings()
    background.start_sync(context.folders, context.environ, context.now, settings, urgent=True)
    folder = _program_folder(context.environ)
    is_exported = _export(context, folder) or context.event.client in EXPORTING
    lead = _identity_text(context, is_exported, folder)
    if first and not context.event.goes_on:
        from ghp_agents.presence import namesakes

        lead += " " + namesakes.to_second(context.agent, first, context.folders)
    return _start_reply(context, lead, folder)


def _keep_way_in(context: "HookContext") -> None:
    from ghp_agents.presence import way_in

    event, session = context.event, context.event.session or ""
    home = own_file.home_folder(context.place.common_dir, context.environ)
    way_in.keep(home, context.agent, event.client, session, context.environ, event.socket)


def _first_of_name(context: "HookContext") -> str:
    """The agent whose name this session would have, if that were not used; else empty."""
    first = context.environ.get("GHP_AGENT", "").lower() or heartbeat.name_file(
        context.place.git_dir
    )
    return first if own_name.is_second(context.agent, first) else ""


def _program_folder(environ: "Mapping[str, str]") -> str:
    """The folder of our `ghp` if the shell finds none, as in an environment that is not active;
    else empty."""
    own = os.path.dirname(sys.executable)
    paths = environ.get("PATH", "").split(":")
    is_found = any(folder and os.access(f"{folder}/{PROGRAM}", os.X_OK) for folder in paths)
    return "" if is_found or not os.access(f"{own}/{PROGRAM}", os.X_OK) else own


def _export(context: "HookContext", folder: str) -> bool:
    """Add the agent's name, and `folder` to the PATH, to the file that the client's shell sources.
    Returns whether there is one."""
    from shlex import quote

    named = [context.environ[name] for name in ENV_FILES if context.environ.get(name)]
    for path in dict.fromkeys(named):
        lines = [f'export PATH="$PATH":{quote(folder)}\n'] if folder else []
        own = {"GHP_AGENT": context.agent, **_slot(context)}
        lines += [f"export {name}={quote(value)}\n" for name, value in own.items()]
        try:
            with open(path, "a+", encoding="utf-8", errors="surrogateescape") as file:
                file.seek(0)
                content = file.read()
                begins = "\n" if content and not content.endswith("\n") else ""
                # The last line wins, so add them again if another name follows.
                if not content.endswith("".join(lines)):
                    file.write(begins + "".join(lines))
        except OSError:
            return False
    return bool(named)


def _slot(context: "HookContext") -> "Mapping[str, str]":
    """The port and the name of this worktree."""
    from pathlib import Path

    from ghp_agents.worktrees import slots

    return slots.variables(Path(context.place.toplevel or "/"))


def _identity_text(context: "HookContext", is_exported: bool, folder: str) -> str:
    still = "still " if context.event.resumed else ""
    is_known = is_exported or context.event.client in NAMING
    by = "" if is_known else f" Its shell commands need `--as {context.agent}`."
    if folder and not is_exported:
        from ghp_agents.hotpath.quoting import clean

        by += f" Its shell does not find `ghp`: run `{clean(f'{folder}/{PROGRAM}')}` instead."
    lead = "ghp-agents coordinates this repository."
    return f"{lead} This session is {still}agent `{context.agent}`.{by}"


def _start_reply(context: "HookContext", identity: str, folder: str) -> Reply:
    """A reply with what the agent needs to begin. `folder` is added to the PATH."""
    variables = {"GHP_AGENT": context.agent, **_slot(context)}
    if folder:
        variables["PATH"] = ":".join(filter(None, (context.environ.get("PATH"), folder)))
    if not context.event.hears:
        return Reply(environ=variables)
    from ghp_agents.core.errors import GhpError
    from ghp_agents.core.ids import AgentName
    from ghp_agents.hooks import start_text
    from ghp_agents.sync import notifications

    app, agent = context.app(), AgentName(context.agent)
    news_flag.clear(context.folders, context.agent)
    try:
        text, ids = start_text.text(app, identity, is_brief=context.event.resumed)
    except GhpError as error:  # such as an unreadable issue; the name must still reach it
        error_log.log_error(error, app.ws.place.git_dir, context.environ, where="hook start")
        news = notifications.gather(app, agent, again=True)
        text, ids = "\n".join(filter(None, (identity, news.text))), news.ids
    return Reply(
        context=text,
        environ=variables,
        on_sent=lambda: notifications.deliver(app, agent, ids),
    )


def prompt(context: "HookContext") -> Reply | None:
    """A prompt: the agent is working again, and gets news."""
    before = context.presence() or {}
    if context.event.client in BEGIN_WITH_PROMPT and not _has_begun(context, before):
        begun = start(context)
        beat(context, {"status": "implementing"})
        return begun
    is_resting = before.get("status", "idle") in RESTING
    beat(context, {"status": "implementing"} if is_resting else {})
    if not context.event.hears:
        return None
    from ghp_agents.hooks.news import news

    return news(context, "ghp-agents has news for this agent:", again=True)


def _has_begun(context: "HookContext", presence: "Mapping[str, Any]") -> bool:
    """Whether the session started before, and did not end since."""
    kept = own_name.find(context.folders, context.event.session or "")
    return bool(kept) and presence.get("status", "stopped") != "stopped"


def end(context: "HookContext") -> None:
    """Mark the agent as stopped and drop its implicit leases; only files, as time is short. After
    `/clear` it continues under the same name, so it only rests."""
    presence = context.presence()
    if presence is None or not own_name.is_of(
        presence, heartbeat.session(context.environ)[1] or ""
    ):
        return  # another session uses this name
    local = presence.get("local") or {}
    heartbeat.beat(
        context.folders,
        context.agent,
        {
            "status": "idle" if context.event.goes_on else "stopped",
            **heartbeat.surroundings(context.place),
        },
        context.now,
        session=local.get("session"),
        patience=END_TIMEOUT_S,
        count=usage.counting(context),
    )
    if context.event.goes_on:
        return
    implicit_leases.drop_all(context.folders, context.agent)
    settings = context.settings()
    background.start_sync(
        context.folders, context.environ, context.now, settings, urgent=True, pause=0.0
    )
