"""`agent-lease` and `agent-leases`: lease files or a named resource, and list leases."""

from collections.abc import Container, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ghp_agents.cli import complete, json_choice, output, past
from ghp_agents.cli.context import acting, say_none, start_background
from ghp_agents.cli.params import LIMIT, Duration, Seconds, limited
from ghp_agents.cli.terminal import signals
from ghp_agents.cli.views import remote_news
from ghp_agents.core.clock import ago, to_seconds
from ghp_agents.core.errors import UnapprovedError, UsageError
from ghp_agents.core.ids import count, listed, one_line, short_ids
from ghp_agents.escalations import service as escalation
from ghp_agents.guard import approval
from ghp_agents.hotpath.implicit_leases import ImplicitLease
from ghp_agents.hotpath.locate import worktree_at
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.leases import acquire, overlaps
from ghp_agents.leases import service as services
from ghp_agents.leases.acquire import LeaseResult
from ghp_agents.leases.coverage import WorktreeFiles
from ghp_agents.leases.hold import Hold, Waiter
from ghp_agents.leases.overlaps import Overlap
from ghp_agents.leases.record import what
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.presence import service as presence
from ghp_agents.wiring import App
from ghp_agents.world import World

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.lease import ConflictJson, EditingJson

SHOWN = 3  # files that are listed; the rest are counted


@click.command(
    "agent-lease", epilog="Example: ghp agent-lease src/parser/ '!*.snap' --reason 'new parser'"
)
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...", shell_complete=complete.files)
@click.option(
    "--name", metavar="RESOURCE", help="Name of a non-file resource, e.g. staging-db.",
    shell_complete=complete.resources,
)  # fmt: skip
@click.option("--reason", metavar="TEXT", default="", help="What for; other agents see it.")
@click.option(
    "--ttl",
    metavar="TIME",
    type=Duration(),
    help="Release automatically after this time, e.g. 30m or 2h.",
)
@click.option("--strict", is_flag=True, help="Reserve in all clones at once; needs the remote.")
@click.option("--wait", is_flag=True, help="Wait in the queue until it is free.")
@click.option(
    "--timeout", metavar="SECONDS", type=Seconds(),
    help="With --wait: stop waiting after this time.",
)  # fmt: skip
@click.option(
    "--for", "holder", metavar="AGENT", shell_complete=complete.agents,
    help="Lease on behalf of this agent and approve shared files (people and orchestrators only).",
)  # fmt: skip
@json_choice.option("Print the lease as JSON.")
@acting
def lease(
    app: App,
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
    """Reserve files or a named resource, and print the lease's id.

    PATTERN is .gitignore syntax, relative to the current folder: `./a.py` (this file), `a.py`
    (every file of that name), `src/` (everything below), `!x` (except). A lease ends when it is
    released, when its time is up, or when its holder is dead.
    """
    if timeout is not None and not wait:
        raise UsageError("--timeout needs --wait.", hint="Add --wait.")
    spelled = _spelled(app, patterns) if patterns else ()
    wanted = LeaseRequest(spelled, name, reason, ttl, strict, holder, patterns)
    try:
        leased = _acquire(app, wanted, wait, timeout)
    finally:
        start_background(app)  # a failed request may have written records, too
    if as_json:
        output.as_json(_fields(leased.hold) | {"covers": list(leased.covered)})
    else:
        output.result(f"L-{leased.hold.id}")
    _say(leased)
    _say_links(app, patterns)
    if leased.is_new and not leased.hold.strict:
        _say_scope(app)


def _say_links(app: App, patterns: tuple[str, ...]) -> None:
    """Explain leases of links: an edit through a link changes its target."""
    for word, inside in WorktreeFiles(app.ws).links(patterns, app.cwd):
        shown = one_line(word, 80)
        if inside is not None:
            output.say(f"{shown} is a link: leased its target, {one_line(inside, 80)}.")
        else:
            output.warn(
                f"{shown} links to a path outside this repository: only the link is leased, "
                "and its target can still be edited."
            )


def _say_scope(app: App) -> None:
    """Explain that an ordinary lease is not yet known elsewhere, if other clones are active."""
    if presence.others_live(app, app.store.snapshot()):
        output.say(
            "Reserved in this clone; other clones are warned at the next sync. Use --strict to "
            "reserve it everywhere."
        )


def _spelled(app: App, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The patterns, relative to the repository's root.

    Raises UsageError, also for a number that is not a file: it was meant for an option.
    """
    files = WorktreeFiles(app.ws)
    for word in patterns:
        is_number = word.isascii() and word.isdigit() and not (app.cwd / word).exists()
        if is_number and not files.reach(files.spelled([word], app.cwd)).covered:
            raise UsageError(
                f"There is no file {word[:20]} here.",
                hint=f"To wait that many seconds, use --wait --timeout {word[:20]}. To lease a "
                f"future file of that name, use ./{word[:20]}.",
            )
    return files.spelled(patterns, app.cwd)


def _acquire(app: App, wanted: LeaseRequest, wait: bool, timeout: float | None) -> LeaseResult:
    approve = approval.approver(app)
    if not wait:
        with output.busy("Leasing"):
            acquiring = partial(acquire.acquire, app, approve, wanted)
            return remote_news.after_asking(app, acquiring, (UnapprovedError,))
    from ghp_agents.leases import queue

    with signals.exit_on_signals():
        return queue.wait(app, approve, wanted, timeout=timeout, tell=output.say)


def _say(leased: LeaseResult) -> None:
    hold, files = leased.hold, leased.covered
    mine = what(hold.patterns, hold.name)
    until = f" until {hold.until}" if hold.until else ""
    if leased.is_new:
        output.done(f"Leased {mine} as {hold.short}{until}{_coverage_text(hold, files)}.")
    else:
        holder = named(hold.holder, hold.is_person)
        output.say(f"{holder} already leases {mine} as {hold.short}, since {hold.since}{until}.")
    if hold.patterns and not files:
        output.warn("No file matches yet.", "`git ls-files` lists the files.")


def _coverage_text(hold: Hold, files: Sequence[str]) -> str:
    if not hold.patterns or not files:
        return ""
    return f": {count(len(files), 'file')} ({listed([*map(file, files)], SHOWN)})"


@click.command("agent-leases", epilog="Example: ghp agent-leases --at '2h ago'")
@click.option(
    "--implicit", is_flag=True, help="Also list files that agents of this clone are editing."
)
@LIMIT
@past.AT
@json_choice.option("Print them as JSON.")
@click.pass_obj
def leases(app: App, implicit: bool, limit: int | None, at: str | None, as_json: bool) -> None:
    """List leases, oldest first, and who is waiting for them."""
    if implicit and at is not None:
        raise UsageError(
            "--implicit cannot be used with --at: past edits are not recorded.",
            hint="Leave out --implicit.",
        )
    then = past.time_of_leases(app, at)
    if then is None:
        remote_news.hear(app)
    listing = services.listing(app, implicit=implicit, at=then)
    conflicts = _conflicts(app, listing, then)
    listing = listing._replace(held=limited(listing.held, limit))
    if as_json:
        output.as_json(
            [
                *(
                    _fields(hold) | {"conflicts": _disputes(hold, conflicts)}
                    for hold in listing.held
                ),
                *(_waiting(waiter) for waiter in listing.waiting),
                *(_editing(touch) for touch in listing.edits),
            ]
        )
    elif not (listing.held or listing.waiting or listing.edits):
        say_none(app, "No leases.")
    else:
        disputed = {hold.id for conflict in conflicts for hold in conflict[:2]}
        _print(listing, disputed, app.ws.clock.now() if then is None else then)
        for conflict in conflicts:
            output.page(_sentence(conflict))
    for problem in listing.problems:
        output.warn(f"Cannot read {problem.place}: {problem.reason}.")
    if then is None:
        start_background(app)


def _conflicts(app: App, listing: services.LeaseListing, then: float | None) -> list[Overlap]:
    if len(listing.held) < 2:
        return []
    questions = escalation.questions(World(app, at=then))
    return overlaps.find(app.ws, listing.held, listing.logs, questions)


def _sentence(conflict: Overlap) -> str:
    """Describe a conflict: who may edit the files, and how it will be decided."""
    earlier, later, question = conflict.earlier, conflict.later, conflict.question
    first, second = (named(hold.holder, hold.is_person) for hold in (earlier, later))
    decides = ""
    if question and question.is_open:
        decides = f" {question.name} asks a person to decide."
    elif question:
        decides = f" {question.name} was answered: {phrase(question.answers[-1].text)}"
    return (
        f"Conflict: {earlier.short} of {first} and {later.short} of {second} both cover "
        f"{file(conflict.place)}. Until one is released, {first} may edit it.{decides}"
    )


def _disputes(hold: Hold, conflicts: Sequence[Overlap]) -> "list[ConflictJson]":
    """The conflicts of one lease."""
    return [
        {
            "id": f"L-{other.id}",
            "holder": other.holder,
            "what": conflict.place,
            "decides": conflict.earlier.holder,
            "question": conflict.question.name if conflict.question else None,
        }
        for conflict in conflicts
        for own, other in ((conflict.earlier, conflict.later), (conflict.later, conflict.earlier))
        if own.id == hold.id
    ]


def _print(listing: services.LeaseListing, disputed: Container[str], now: float) -> None:
    requests = [waiter.request for waiter in listing.waiting]
    names = short_ids(hold.id for hold in (*listing.held, *requests))
    rows: list[tuple[str, ...]] = []
    for hold in listing.held:
        state = "strict" if hold.strict else "held"
        state = "conflict" if hold.id in disputed else state
        until = _age(hold.until, now) if hold.until else "-"
        rows.append((f"L-{names[hold.id]}", state, *_row(hold, now), until, _reason(hold.reason)))
    for waiter in listing.waiting:
        hold, state = waiter.request, f"waits ({len(waiter.behind)} ahead)"
        rows.append((f"L-{names[hold.id]}", state, *_row(hold, now), "-", _reason(hold.reason)))
    for touch in listing.edits:
        age, place = _age(touch.since, now), file(worktree_at(touch.git_dir) or "?")
        rows.append(("-", "edits", touch.agent, file(touch.path), age, "-", f"in {place}"))
    styles = ["dim" if row[1] == "edits" else "" for row in rows]
    output.table(("ID", "STATE", "HOLDER", "WHAT", "SINCE", "UNTIL", "REASON"), rows, styles)


def _row(hold: Hold, now: float) -> tuple[str, str, str]:
    holder = named(hold.holder, hold.is_person)
    return holder, one_line(what(hold.patterns, hold.name), 80), _age(hold.since, now)


def _reason(text: str) -> str:
    return phrase(text, 80) if text else ""


def _age(at: str, now: float) -> str:
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
        "patterns": hold.patterns,
        "name": hold.name,
        "since": hold.since,
        "until": hold.until,
        "reason": hold.reason,
        "approved": hold.approved,
        "strict": hold.strict,
    }


def _waiting(waiter: Waiter) -> dict[str, Any]:
    hold = waiter.request
    return {
        "id": f"L-{hold.id}",
        "state": "waiting",
        "holder": hold.holder,
        "person": hold.is_person,
        "patterns": hold.patterns,
        "name": hold.name,
        "since": hold.since,
        "reason": hold.reason,
        "strict": hold.strict,
        "behind": [{"id": f"L-{hold.id}", "holder": hold.holder} for hold in waiter.behind],
    }


def _editing(touch: ImplicitLease) -> "EditingJson":
    return {
        "state": "editing",
        "holder": touch.agent,
        "path": touch.path,
        "since": touch.since,
        "worktree": worktree_at(touch.git_dir),
    }
