"""`agent-trust`: show the settings that run, place or redirect something, and consent to them."""

import json
from collections.abc import Sequence

import click

from ghp_agents.cli import json_choice, output
from ghp_agents.cli.context import agrees, is_interactive
from ghp_agents.consent import service as services
from ghp_agents.consent.service import ConsentItem
from ghp_agents.core import person
from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.remote_url import masked
from ghp_agents.settings import consent
from ghp_agents.wiring import App
from ghp_agents.workspace import Workspace


@click.command("agent-trust", epilog="Example: ghp agent-trust --show")
@click.option("--show", is_flag=True, help="Only list the settings on main, and which are active.")
@click.option("--revoke", is_flag=True, help="Withdraw your consent.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask; for people's scripts.")
@json_choice.option("With --show: print JSON.", "json_")
@click.pass_obj
def trust(app: App, show: bool, revoke: bool, yes: bool, json_: bool) -> None:
    """Show what this repository may run on your machine, and allow it.

    Some settings run commands, choose folders or name servers. They are read from main only, and
    take effect in this clone after you agree to their values. If a value changes, you are asked
    again.
    """
    if show + revoke + yes > 1:
        raise UsageError(
            "--show, --revoke and --yes exclude each other.", hint="See `ghp agent-trust --help`."
        )
    if json_ and not show:
        raise UsageError("--json needs --show.", hint="Add --show.")
    if show:
        _show(app, as_json=json_)
    elif revoke:
        services.refuse_agents(app.ws)
        _revoke(app)
    else:
        services.refuse_agents(app.ws)
        _agree(app, yes=yes)


def _agree(app: App, *, yes: bool) -> None:
    values = services.wanted(app.ws)
    if all(item.counts for item in values):
        output.done("Nothing to do: all settings of this repository are active.")
        return
    tell(values)
    if not yes and not agrees("Use these settings in this clone?"):
        raise RefusedError("You agreed to nothing.", hint="To agree later, run `ghp agent-trust`.")
    services.agree(app.ws, values)
    output.done(
        "Agreed. Changed values need your consent again; `ghp agent-trust --revoke` withdraws it."
    )


def consent_at_set_up(app: App, *, owner: bool) -> None:
    """Record consent at set-up: to the settings that the person says they wrote here, and with
    `owner` to those on the main branch, now and later. Only warns about others."""
    ws = app.ws
    is_persons = person.agent_here(ws.environ) is None
    mine = services.own_words(ws) if is_persons else []
    if mine:
        tell(mine)
        _agree_to_own(ws, mine)
    if owner:
        values = services.wanted(ws)
        tell(values)
        services.agree(ws, values, owner=True)
        address = masked(services.owner(ws))
        output.done(f"You trust the owner of {address} to set and change these.")
    elif left := services.summary(ws):
        output.warn(left, consent.HINT)


def _agree_to_own(ws: Workspace, mine: Sequence[ConsentItem]) -> None:
    """Ask whether the person wrote these: a file does not tell who wrote it."""
    question = "Did you write this in .ghp/config.json, and shall it count once it is on main?"
    if is_interactive() and click.confirm(question, err=True):
        services.agree(ws, mine)
        output.done("Agreed to your own .ghp/config.json; it takes effect once it is on main.")
    else:
        output.say("Nobody agreed to this yet. Once it is on main, review it: `ghp agent-trust`.")


def tell(values: Sequence[ConsentItem]) -> None:
    """Show the values in full, for the person to decide."""
    for item in values:
        mark = "active" if item.counts else "new"
        output.say(output.clean(f"{item.written} — {item.does} ({item.where}; {mark}):"))
        for line in _text(item).splitlines() or [""]:
            output.say(f"    {output.clean(line)}")


def _text(item: ConsentItem) -> str:
    if isinstance(item.value, str):
        return item.value
    if isinstance(item.value, (list, tuple)):
        return "\n".join(map(str, item.value))
    return json.dumps(item.value, indent=2, sort_keys=True)


def _show(app: App, *, as_json: bool) -> None:
    values, owner = services.wanted(app.ws), services.owner(app.ws)
    if as_json:
        output.as_json({"owner": masked(owner) or None, "values": values})
        return
    rows_ = [
        (item.written, _text(item).replace("\n", " · "), item.where, "yes" if item.counts else "no")
        for item in values
    ]
    if values and output.is_terminal():
        _print_whole(values)
    elif rows_:
        output.table(("KEY", "VALUE", "FROM", "ACTIVE"), rows_)
    else:
        output.say("This repository has no settings that need consent.")
    if owner:
        output.say(f"Trusted to change these on main: the owner of {output.clean(masked(owner))}.")


def _print_whole(values: Sequence[ConsentItem]) -> None:
    """Each value below its name: no value is cut."""
    for item in values:
        mark = "active" if item.counts else "not active"
        output.page(f"{item.written}: {mark}, from {item.where}")
        for line in _text(item).splitlines():
            output.page(f"    {line}")


def _revoke(app: App) -> None:
    if services.revoke(app.ws):
        output.done("Withdrawn: no setting that needs consent is used in this clone.")
    else:
        output.done("Nothing to do: you agreed to nothing in this clone.")
