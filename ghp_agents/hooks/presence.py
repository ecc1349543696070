"""An agent's presence, as its hooks renew it."""

from ghp_agents.hotpath import background, boot_clock, heartbeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ghp_agents.hooks.scene import HookContext


def beat(scene: "HookContext", said: "dict[str, Any]", *, progress: bool = False) -> None:
    """Renew the agent's presence; the slow road registers one that has none yet."""
    settings = scene.settings()
    beaten = heartbeat.beat(
        scene.folders,
        scene.agent,
        {**said, "kind": scene.event.client, **heartbeat.surroundings(scene.place)},
        scene.now,
        session=heartbeat.session(scene.environ)[1],
        progress=progress,
        throttle=settings.get("throttle", heartbeat.THROTTLE),
        pid=heartbeat.agent_pid(scene.environ),
        moment=boot_clock.read(),
    )
    if beaten is None:
        begin(scene, said)
        beaten = "moved"
    background.start_sync(
        scene.folders, scene.environ, scene.now, settings, urgent=beaten == "moved"
    )


def begin(scene: "HookContext", said: "dict[str, Any]") -> None:
    """Beat; an agent without presence here, or in another session than before, starts anew."""
    from ghp_agents.core.ids import AgentName, issue_of_branch
    from ghp_agents.presence import service as presence

    ws, store = scene.app().ws, scene.app().store
    before = scene.presence() or {}
    said = {**said, "kind": scene.event.client}
    here = ws.branch
    if before.get("issue") and not (here and issue_of_branch(here)):
        said["issue"] = before["issue"]  # a new session of an agent goes on with its issue
    presence.heartbeat(ws, store, AgentName(scene.agent), said)
