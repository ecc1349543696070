"""`agent-init --remove`: list what goes and what stays, ask once, remove."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ghp_agents.cli import output
from ghp_agents.cli.context import agrees
from ghp_agents.cli.setup import guards, tool_server
from ghp_agents.consent import service as consent
from ghp_agents.core.ids import count
from ghp_agents.doctor import setup as services
from ghp_agents.messages import channel_files
from ghp_agents.presence import checks as presence
from ghp_agents.state.admin_port import RemoteRef, Step
from ghp_agents.wiring import App
from ghp_agents.worktrees import agent_worktrees
from ghp_agents.worktrees.agent_worktrees import AgentWorktree

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Removal:
    """The options."""

    remote_refs: bool  # also remove refs on the remote
    force: bool  # also if unsent changes are lost
    yes: bool  # do not ask
    dry_run: bool


def take_away(app: App, removal: Removal) -> None:
    """Remove our files and refs. Raises RefusedError if a person has to confirm first."""
    # First: reading the settings creates a cache again.
    steps = _steps(app)
    refs = _remote_refs(app) if removal.remote_refs else []
    if not steps and not refs:
        _clean_up(app)
        output.done("Nothing to do: ghp-agents has nothing here.")
        return
    _list(app, [_line(step) for step in steps], refs, removal)
    if refs:
        _warn_of_others(app)
    if removal.dry_run:
        _end_dry_run(app, has_steps=bool(steps))
        return
    if steps:
        services.refuse_losses(app.ground, force=removal.force)
        _warn_of_active_agents(app)
    if not removal.yes and not agrees(_question(app, steps, refs), "Nothing was removed"):
        output.say("Nothing was removed.")
        return
    _remove_refs(app, refs)
    for worktree in agent_worktrees.to_remove(app.ws, _worktrees(app), app.cwd) if steps else []:
        notes = _act(worktree)
        for note in notes if isinstance(notes, list) else ():
            output.say(output.clean(note))
    for step in _steps(app) if steps else []:
        _act(step)
    _clean_up(app)


def _end_dry_run(app: App, *, has_steps: bool) -> None:
    if not has_steps:
        _clean_up(app)
        return
    for lost in app.ground.losses():
        output.warn(f"Only this clone has {lost}.", f"{services.how_to_keep(app.ground)}.")
    _warn_of_active_agents(app)


def _question(app: App, steps: Sequence[Step], refs: Sequence[RemoteRef]) -> str:
    local = "from this clone" if steps else ""
    shared = f"from {app.ground.sharing().remote}, for everybody" if refs else ""
    return f"Remove this {' and '.join(filter(None, (local, shared)))}?"


def _act(step: Step) -> object:
    result = step.act()
    output.done(f"{step.did} {step.what}.")
    return result


def _worktrees(app: App) -> list[AgentWorktree]:
    return agent_worktrees.find(app.ws, app.cwd)


def _steps(app: App) -> list[Step]:
    clients = [*guards.all_of_clone(app), *tool_server.all_of_clone(app)]
    ours = [*clients, *channel_files.to_take(app.ws), *app.ground.belongings()]
    worktrees = agent_worktrees.to_remove(app.ws, _worktrees(app), app.cwd)
    return [*worktrees, *ours, *consent.consent_to_take(app.ws)]


def _stays(app: App, *, remote_refs: bool) -> Iterator[str]:
    """What is not removed, and why."""
    for tree in _worktrees(app):
        if tree.kept:
            yield f"{tree.line}: {tree.kept}"
    yield from services.kept(app.ws)
    yield from guards.kept_for_user(app)
    remote = app.ground.sharing().remote
    if not remote_refs and remote is not None:
        yield from _claims_here(app)
        yield f"our refs on {remote}: others work with them; use --remote-refs to remove them, too"


def _claims_here(app: App) -> list[str]:
    """A line about the issues that agents of this clone hold; none without any."""
    held = {
        issue: lock.holder
        for issue, lock in sorted(app.world.claims.items())
        if lock.clone == app.locks.clone
    }
    if not held:
        return []
    names = ", ".join(f"#{issue} of {holder}" for issue, holder in held.items())
    free = f"`ghp agent-release {' '.join(map(str, held))} --as @me`"
    return [f"claims on the remote ({names}): for others to take them, first {free}"]


def _line(step: Step) -> str:
    return step.what if step.doing == "remove" else f"{step.doing} {step.what}"


def _clean_up(app: App) -> None:
    """Remove the private repository that asking the remote may have created."""
    for step in app.ground.belongings():
        step.act()


def _remote_refs(app: App) -> list[RemoteRef]:
    with output.busy("Asking the remote"):
        return app.ground.remote_refs()


def _list(app: App, what: Sequence[str], refs: Sequence[RemoteRef], removal: Removal) -> None:
    tell = output.page if removal.dry_run else output.say
    if what:
        tell(f"{'Would be' if removal.dry_run else 'To be'} removed in {app.ws.root}:")
    for line in what:
        tell(output.clean(f"  {line}"))
    if refs:
        _list_refs(app, refs, tell)
    elif removal.remote_refs:
        tell("The remote has no refs of ours.")
    kept = [*_stays(app, remote_refs=removal.remote_refs)]
    if kept:
        tell("Stays:")
    for line in kept:
        tell(output.clean(f"  {line}"))


def _list_refs(app: App, refs: Sequence[RemoteRef], tell: Tell) -> None:
    sharing = app.ground.sharing()
    tell(f"On {sharing.remote} ({sharing.address}), for everybody who works with it:")
    for line in services.ref_lines(refs, app.ws.clock.now()):
        tell(output.clean(f"  {line}"))


def _warn_of_active_agents(app: App) -> None:
    names = presence.living(app)
    if names:
        text = (
            f"Still working here: {', '.join(names)}. Their next heartbeat would set it up again."
        )
        output.warn(text, "Stop them first.")


def _warn_of_others(app: App) -> None:
    names = presence.living_elsewhere(app)
    if names:
        text = f"Still working in other clones: {', '.join(names)}. They lose what they claimed."
        output.warn(text, "Ask their people first.")


def _remove_refs(app: App, refs: Sequence[RemoteRef]) -> None:
    """Remove refs of the remote. Goes first, as it needs local files."""
    if not refs:
        return
    with output.busy("Removing refs from the remote"):
        app.ground.remove_remote_refs(refs)
    output.done(f"Removed {count(len(refs), 'ref')} from {app.ground.sharing().remote}.")
    if any(ref.is_foreign for ref in refs):
        output.say("Clones that are still in use push theirs again at their next sync.")
