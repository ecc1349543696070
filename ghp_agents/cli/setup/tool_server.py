"""`agent-init --mcp`: add the tool server to clients, or remove it."""

from importlib.util import find_spec

from ghp_agents.cli import output
from ghp_agents.cli.setup import guards
from ghp_agents.core.errors import UsageError
from ghp_agents.core.extras import how_to_install
from ghp_agents.integrations.clients import config_files, server_entries
from ghp_agents.integrations.clients import tool_server as services
from ghp_agents.state.admin_port import Step
from ghp_agents.wiring import App


def change(app: App, words: str, *, remove: bool, dry_run: bool) -> None:
    """Add the server to the clients that `--mcp WORDS` names, or remove it. Raises UsageError."""
    clients = _chosen(app, words, remove=remove)
    places = services.places(app.ws, clients)
    if remove:
        steps = services.to_take(app.ws, places)
    else:
        _refuse_without_package()
        steps = services.to_put(app.ws, places, guards.python())
    if not steps:
        output.done(f"{guards.NOTHING}the tool server is {'not ' if remove else ''}there.")
        return
    guards.carry_out(steps, dry_run=dry_run)
    if not remove and not dry_run:
        plugins = config_files.plugins_enabled([app.ws.folder], app.environ)
        for text, hint in services.advice(places, plugins):
            output.warn(output.clean(text), hint)


def all_of_clone(app: App) -> list[Step]:
    """Removal of the server from all clients in this clone."""
    return services.to_take(app.ws, services.places(app.ws, server_entries.CLIENTS))


def _chosen(app: App, words: str, *, remove: bool) -> list[str]:
    supported = server_entries.CLIENTS
    if words == config_files.FOUND and remove:
        return [*supported]
    present = config_files.found([app.ws.folder, app.ws.root], app.environ)
    clients = config_files.chosen(words, [client for client in present if client in supported])
    without = [client for client in clients if client not in supported]
    if without:
        raise UsageError(
            f"{without[0]} takes no tool server.", hint=f"These do: {', '.join(supported)}."
        )
    return clients


def _refuse_without_package() -> None:
    if find_spec("mcp") is None:
        raise UsageError(
            "The tool server needs the package mcp.",
            hint=f"Install it: {how_to_install('mcp')}",
        )
