"""A session begins, is asked something, and ends: presence, identity, and what to go on with."""

from ghp_agents.hooks import naming
from ghp_agents.hooks.event import Reply
from ghp_agents.hooks.presence import beat, begin
from ghp_agents.hotpath import background, error_log, heartbeat, implicit_leases, news_flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ghp_agents.hooks.scene import HookContext

RESTING = ("idle", "stopped", "waiting")
ENV_FILES = ("CLAUDE_ENV_FILE", "CODEX_ENV_FILE")  # sourced before the agent's shell commands
END_PATIENCE = 0.3  # seconds; clients give a second or two to all that happens at the end
CONTEXT_LIMIT = 10_000  # units of UTF-16 that clients take; what is longer they put aside


# ---------------------------------------------------------------------------------- begin


def start(scene: "HookContext") -> Reply:
    """Register, give the agent its name, and tell it what it needs to go on."""
    said: dict[str, Any] = {}
    before = scene.presence() or {}
    if before.get("status", "stopped") == "stopped":
        said["status"] = "idle"
    naming.keep(scene.folders, scene.event.session, scene.agent, scene.now)
    begin(scene, said)
    settings = scene.settings()
    background.start_sync(scene.folders, scene.environ, scene.now, settings, urgent=True)
    variables = {"GHP_AGENT": scene.agent}
    is_exported = _export(scene, variables)
    return _resumed(scene, _identity(scene, is_exported or scene.event.client == "opencode"))


def _export(scene: "HookContext", variables: "dict[str, str]") -> bool:
    """Into the file that the client's shell commands begin with, once; whether there is one."""
    from shlex import quote

    named = [scene.environ[name] for name in ENV_FILES if scene.environ.get(name)]
    for path in dict.fromkeys(named):
        lines = [f"export {name}={quote(value)}\n" for name, value in variables.items()]
        try:
            with open(path, "a+", encoding="utf-8", errors="surrogateescape") as file:
                file.seek(0)
                had = file.read()
                begins = "\n" if had and not had.endswith("\n") else ""
                # The last line wins: a name that was another's meanwhile is said again.
                if not had.endswith("".join(lines)):
                    file.write(begins + "".join(lines))
        except OSError:
            return False
    return bool(named)


def _identity(scene: "HookContext", is_exported: bool) -> str:
    by = "" if is_exported else f" Its shell commands are known by `--as {scene.agent}`."
    return (
        f"ghp-agents coordinates the agents of this repository. This session acts as agent "
        f"`{scene.agent}`.{by} `ghp agent-status` shows who works on what."
    )


def _resumed(scene: "HookContext", lead: str) -> Reply:
    """What the agent needs to go on with, within what its client takes."""
    variables = {"GHP_AGENT": scene.agent}
    if not scene.event.hears:
        return Reply(environ=variables)
    from ghp_agents.core.errors import GhpError
    from ghp_agents.core.ids import AgentName
    from ghp_agents.hotpath.quoting import clean
    from ghp_agents.sync import notifications

    app, agent = scene.app(), AgentName(scene.agent)
    news_flag.clear(scene.folders, scene.agent)
    wanted = notifications.fence_lines(app.ws, app.store.snapshot(), app.leaser, agent)
    lead = "\n\n".join([lead, *wanted])
    try:
        text, told = _resume(scene, CONTEXT_LIMIT - len(lead) - 2)
    except GhpError as error:  # an issue that cannot be read, say; who it is it must know
        error_log.log_error(error, app.ws.place.git_dir, scene.environ, where="hook start")
        return Reply(context=lead, environ=variables)
    return Reply(
        context=f"{lead}\n\n{clean(text)}",
        environ=variables,
        told=lambda: notifications.mark(app.ws, agent, told),
    )


def _resume(scene: "HookContext", limit: int) -> "tuple[str, list[str]]":
    from ghp_agents.handoffs import resume

    app = scene.app()
    chosen = resume.choose(app.ws, app.store, app.knowing_tracker)
    room = limit
    while True:
        resumed = resume.resume(app.ws, app.store, chosen, max_chars=room)
        units = len(resumed.text.encode("utf-16-le", "replace")) // 2
        if units <= limit:
            return resumed.text.strip("\n"), [each.id for each in resumed.news]
        room = min(room - 1, room * limit // units)  # letters beyond the first 65,536 count twice


# --------------------------------------------------------------------------------- prompt


def prompt(scene: "HookContext") -> Reply | None:
    """Its user wants something: the agent is at work again, and hears what is new."""
    before = scene.presence() or {}
    is_resting = before.get("status", "idle") in RESTING
    beat(scene, {"status": "implementing"} if is_resting else {})
    if not scene.event.hears:
        return None
    from ghp_agents.hooks.news import news

    return news(scene, "ghp-agents has news for this agent:", again=True)


# ------------------------------------------------------------------------------------ end


def end(scene: "HookContext") -> None:
    """The agent is stopped, and nobody waits for its files; by files alone, as there is no time."""
    presence = scene.presence()
    local = presence.get("local") if presence else None
    here = local.get("session") if local else None
    naming.forget(scene.folders, scene.event.session)
    if presence is None or (here and here != heartbeat.session(scene.environ)[1]):
        return  # another session goes on under this name
    heartbeat.beat(
        scene.folders,
        scene.agent,
        {"status": "stopped", **heartbeat.surroundings(scene.place)},
        scene.now,
        session=here,
        patience=END_PATIENCE,
    )
    implicit_leases.drop_all(scene.folders, scene.agent)
    settings = scene.settings()
    background.start_sync(scene.folders, scene.environ, scene.now, settings, urgent=True, pause=0.0)
