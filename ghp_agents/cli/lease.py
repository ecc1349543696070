"""`agent-lease`, `agent-leases`: have files or a resource alone, and see who has what."""

from collections.abc import Sequence
from typing import Any

import click

from ghp_agents.cli import output
from ghp_agents.cli.context import acting, say_none, wake
from ghp_agents.clock import ago, duration, to_seconds
from ghp_agents.errors import UsageError
from ghp_agents.model.hold import Hold, Waiter
from ghp_agents.model.lease_record import what
from ghp_agents.model.names import one_line, short_ids
from ghp_agents.services import lease as services
from ghp_agents.services import leasing
from ghp_agents.services.covering import Ground
from ghp_agents.services.lease_plan import Wanted
from ghp_agents.services.leasing import Leased
from ghp_agents.wiring import House

SHOWN = 3  # files that are named; others are counted


class Duration(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A length of time, in seconds: 90s, 30m, 2h, 1d."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds."""
        try:
            return duration(str(value))
        except ValueError:
            self.fail(f"{str(value)[:40]!r} is not a length of time, such as 90s, 30m, 2h, 1d.")


# -------------------------------------------------------------------------------- taking


@click.command(
    "agent-lease", epilog="Example: ghp agent-lease src/parser/ '!*.snap' --reason 'new parser'"
)
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option("--name", metavar="RESOURCE", help="A resource that is no file: staging-db.")
@click.option("--reason", metavar="TEXT", default="", help="What for; others are told.")
@click.option("--ttl", metavar="TIME", type=Duration(), help="For so long at most: 30m, 2h.")
@click.option("--strict", is_flag=True, help="Over all clones at once; needs the remote.")
@click.option("--wait", is_flag=True, help="Stand in line until it is free.")
@click.option(
    "--timeout", metavar="SECONDS", type=click.FloatRange(min=0),
    help="With --wait: leave the line after so long.",
)  # fmt: skip
@click.option(
    "--for", "holder", metavar="AGENT",
    help="Lease it for this agent, with leave for shared files; by people and orchestrators.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the lease as JSON.")
@acting
@click.pass_obj
def lease(
    house: House,
    patterns: tuple[str, ...],
    name: str | None,
    reason: str,
    ttl: float | None,
    strict: bool,
    wait: bool,
    timeout: float | None,
    holder: str | None,
    as_json: bool,
) -> None:
    """Have files alone, or a named resource, and print the lease's id.

    PATTERN is one of a .gitignore file in the current folder: `./a.py` is one file, `a.py` all of
    that name, `src/` what is and will be in it; `!` takes away. A lease holds until it is released,
    its time is up, or its holder is dead.
    """
    if timeout is not None and not wait:
        raise UsageError("--timeout says how long to wait.", hint="Give --wait with it.")
    said = Ground(house.ws).spelled(patterns, house.cwd) if patterns else ()
    wanted = Wanted(said, name, reason, ttl, strict, holder, patterns)
    try:
        leased = _take(house, wanted, wait, timeout)
    finally:
        wake(house)  # a request or a question may have been written, too
    if as_json:
        output.as_json(_fields(leased.hold) | {"covers": list(leased.covered)})
    else:
        output.data(f"L-{leased.hold.id}")
    _say(leased)


def _take(house: House, wanted: Wanted, wait: bool, timeout: float | None) -> Leased:
    parts = house.ws, house.store, house.leaser, house.tracker
    if not wait:
        with output.busy("Leasing"):
            return leasing.acquire(*parts, wanted)
    from ghp_agents.services import lease_waiting

    return lease_waiting.wait(*parts, wanted, timeout=timeout, tell=output.say)


def _say(leased: Leased) -> None:
    hold, files = leased.hold, leased.covered
    mine = what(hold.patterns, hold.name)
    until = f" until {hold.until}" if hold.until else ""
    if leased.is_new:
        output.done(f"Leased {mine}{until}{_covering(hold, files)}.")
    else:
        output.say(f"{mine} is leased to {hold.holder} already, since {hold.since}{until}.")
    if hold.patterns and not files:
        output.warn("It covers no file that is here yet.", "`git ls-files` lists what there is.")


def _covering(hold: Hold, files: Sequence[str]) -> str:
    if not hold.patterns or not files:
        return ""
    names = ", ".join(one_line(path, 80) for path in files[:SHOWN])
    more = f" and {len(files) - SHOWN} more" if len(files) > SHOWN else ""
    return f": it covers {len(files)} file{'s' if len(files) != 1 else ''} ({names}{more})"


# ------------------------------------------------------------------------------- listing


@click.command("agent-leases", epilog="Example: ghp agent-leases --implicit")
@click.option(
    "--implicit", is_flag=True, help="Also the files of this clone that agents are editing."
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def leases(house: House, implicit: bool, as_json: bool) -> None:
    """List what is leased, in the order in which it counts, and who waits for it."""
    listing = services.listing(house.ws, house.store, house.leaser, implicit=implicit)
    if as_json:
        output.as_json(
            [
                *(_fields(hold) for hold in listing.held),
                *(_waiting(waiter) for waiter in listing.waiting),
                *(_editing(touch.agent, touch.path, touch.since) for touch in listing.edits),
            ]
        )
    elif not (listing.held or listing.waiting or listing.edits):
        say_none(house, "Nothing is leased.")
    else:
        _print(listing, house.ws.clock.now())
    for problem in listing.problems:
        output.warn(f"{problem.place} cannot be read: {problem.reason}.")
    wake(house)


def _print(listing: services.Listing, now: float) -> None:
    names = short_ids(
        [*(hold.id for hold in listing.held), *(waiter.id for waiter in listing.waiting)]
    )
    rows: list[tuple[str, ...]] = []
    for hold in listing.held:
        state = "strict" if hold.strict else "held"
        until = _when(hold.until, now) if hold.until else "-"
        rows.append((f"L-{names[hold.id]}", state, *_row(hold, now), until, _line(hold.reason)))
    for waiter in listing.waiting:
        state = f"waits ({len(waiter.behind)} ahead)"
        rows.append((f"L-{names[waiter.id]}", state, *_row(waiter, now), "-", _line(waiter.reason)))
    for touch in listing.edits:
        rows.append(("-", "edits", touch.agent, touch.path, _when(touch.since, now), "-", ""))
    styles = ["dim" if row[1] == "edits" else "" for row in rows]
    output.table(("ID", "STATE", "HOLDER", "WHAT", "SINCE", "UNTIL", "REASON"), rows, styles)


def _row(each: Hold | Waiter, now: float) -> tuple[str, str, str]:
    return each.holder, _line(what(each.patterns, each.name)), _when(each.since, now)


def _line(text: str) -> str:
    return one_line(text, 80)


def _when(at: str, now: float) -> str:
    try:
        seconds = now - to_seconds(at)
    except (ValueError, OverflowError):
        return "?"
    return f"{ago(seconds)} ago" if seconds >= 0 else f"in {ago(-seconds)}"


def _fields(hold: Hold) -> dict[str, Any]:
    return {
        "id": f"L-{hold.id}",
        "state": "held",
        "holder": hold.holder,
        "person": hold.is_person,
        "patterns": list(hold.patterns),
        "name": hold.name,
        "since": hold.since,
        "until": hold.until,
        "reason": hold.reason,
        "approved": hold.approved,
        "strict": hold.strict,
    }


def _waiting(waiter: Waiter) -> dict[str, Any]:
    return {
        "id": f"L-{waiter.id}",
        "state": "waiting",
        "holder": waiter.holder,
        "person": waiter.is_person,
        "patterns": list(waiter.patterns),
        "name": waiter.name,
        "since": waiter.since,
        "reason": waiter.reason,
        "strict": waiter.strict,
        "behind": [{"id": f"L-{hold.id}", "holder": hold.holder} for hold in waiter.behind],
    }


def _editing(agent: str, path: str, since: str) -> dict[str, Any]:
    return {"state": "editing", "holder": agent, "path": path, "since": since}
