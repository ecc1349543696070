"""`agent-init --remove`: list, ask, remove; ask again before removing refs on the remote."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ghp_agents.cli import output
from ghp_agents.cli.context import agrees
from ghp_agents.cli.setup import guards, tool_server
from ghp_agents.core.ids import count
from ghp_agents.doctor import setup as services
from ghp_agents.messages import channel_files
from ghp_agents.state.admin_port import RemoteRef, Step
from ghp_agents.wiring import App

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
    ground = app.ground
    # First: reading the settings creates a cache again.
    steps = _steps(app)
    refs = _remote_refs(app) if removal.remote_refs else []
    if not steps and not refs:
        _clean_up(app)
        output.done("Nothing to do: ghp-agents has nothing here.")
        return
    _list(app, [_line(step) for step in steps], refs, removal)
    if removal.dry_run:
        if steps:
            _warn_of_active_agents(app)
        else:
            _clean_up(app)
        return
    if steps:
        services.refuse_losses(ground, force=removal.force)
        _warn_of_active_agents(app)
        if not _confirm("Remove this from this clone?", removal):
            output.say("Nothing was removed.")
            return
    _remove_refs(app, refs, removal)
    if not steps:
        _clean_up(app)
        return
    for step in _steps(app):
        step.act()
        output.done(f"{step.did} {step.what}.")
    stays = services.kept(app.ws)
    if stays:
        output.say(stays)


def _steps(app: App) -> list[Step]:
    clients = [*guards.all_of_clone(app), *tool_server.all_of_clone(app)]
    return [*clients, *channel_files.to_take(app.ws), *app.ground.belongings()]


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
    tell = output.data if removal.dry_run else output.say
    if what:
        tell(f"{'Would be' if removal.dry_run else 'To be'} removed in {app.ws.root}:")
    for line in what:
        tell(output.clean(f"  {line}"))
    if refs:
        _list_refs(app, refs, tell)
    if removal.dry_run:
        for lost in app.ground.losses():
            output.warn(f"Only this clone has {lost}.", f"{services.how_to_keep(app.ground)}.")


def _list_refs(app: App, refs: Sequence[RemoteRef], tell: Tell) -> None:
    sharing = app.ground.sharing()
    tell(f"On {sharing.remote} ({sharing.address}), for everybody who works with it:")
    for line in services.ref_lines(refs, app.ws.clock.now()):
        tell(output.clean(f"  {line}"))


def _warn_of_active_agents(app: App) -> None:
    names = services.living(app)
    if names:
        text = (
            f"Still working here: {', '.join(names)}. Their next heartbeat would set it up again."
        )
        output.warn(text, "Stop them first.")


def _remove_refs(app: App, refs: Sequence[RemoteRef], removal: Removal) -> None:
    """Remove the requested refs of the remote. Goes first, as it needs local files."""
    remote = app.ground.sharing().remote
    if not removal.remote_refs and remote is not None:
        output.say(f"Kept our refs on {remote}; use --remote-refs to remove them, too.")
    if not refs or not _confirm("Remove these from the remote, for everybody?", removal):
        return
    with output.busy("Removing refs from the remote"):
        app.ground.remove_remote_refs(refs)
    many = count(len(refs), "ref")
    output.done(f"Removed {many} from {app.ground.sharing().remote}.")
    if any(ref.is_foreign for ref in refs):
        output.say("Clones that are still in use push theirs again at their next sync.")


def _confirm(question: str, removal: Removal) -> bool:
    return removal.yes or agrees(question, "Nothing was removed")
