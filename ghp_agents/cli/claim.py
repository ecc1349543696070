"""`agent-claim` and `agent-release`: claim an issue; release claims and leases."""

import click

from ghp_agents.claims import service as services
from ghp_agents.claims.service import ClaimResult, ReleasedClaim
from ghp_agents.cli import claim_view, complete, issue_view, output
from ghp_agents.cli.context import acting, start_background, sync_first
from ghp_agents.core.errors import UsageError
from ghp_agents.hotpath.quoting import named
from ghp_agents.leases.hold import Hold
from ghp_agents.wiring import App

# ------------------------------------------------------------------------------- claiming


@click.command("agent-claim", epilog="Example: ghp agent-claim --next")
@click.argument("issue", required=False, shell_complete=complete.issues)
@click.option(
    "--next",
    "best",
    is_flag=True,
    help="Choose: the best issue that is ready for this agent, one of its own first; no epic, and "
    "none that waits for a person (labels `epic` and `agent:needs-human`).",
)
@click.option("--steal", is_flag=True, help="Take it from who has it; needs --reason.")
@click.option("--reason", metavar="TEXT", default="", help="Why; the ledger keeps it.")
@click.option("--json", "as_json", is_flag=True, help="Print the claim as JSON.")
@acting
@click.pass_obj
def claim(app: App, issue: str | None, best: bool, steal: bool, reason: str, as_json: bool) -> None:
    """Take the right to an issue, and print its number.

    ISSUE is a number, or an id or the start of it (I-3f9a). Only one has it, over all clones; who
    comes second ends with 3 and is told who that is. A dead holder's issue can be taken.
    """
    if best == (issue is not None):
        raise UsageError(
            "Name an issue, or let one be chosen.",
            hint="`ghp agent-claim 12`, or `ghp agent-claim --next`.",
        )
    if best and (steal or reason):
        raise UsageError(
            "--next takes nothing from anybody.", hint="To steal an issue, name it by its number."
        )
    with output.busy("Claiming"):
        sync_first(app, only_first=True)
        if issue is None:
            claimed = services.claim_next(app)
        else:
            claimed = services.claim(app, issue, steal=steal, reason=reason)
    if as_json:
        output.as_json(_fields(claimed))
    else:
        output.data(str(claimed.issue.number))
    claim_view.say_claimed(claimed)
    start_background(app)


def _fields(claimed: ClaimResult) -> dict[str, object]:
    return {
        "issue": claimed.issue.number,
        "title": claimed.issue.title,
        "holder": claimed.lease.holder,
        "generation": claimed.lease.generation,
        "since": claimed.lease.acquired_at,
        "how": claimed.how,
        "previous": claimed.previous,
        "waitsFor": list(claimed.waits_for),
    }


# --------------------------------------------------------------------------- giving back


@click.command("agent-release", epilog="Example: ghp agent-release 12 --to worker-2")
@click.argument(
    "words", nargs=-1, metavar="[ISSUE|LEASE|PATTERN]...", shell_complete=complete.to_release
)
@click.option(
    "--name", metavar="RESOURCE", help="A lease of this name.", shell_complete=complete.resources
)
@click.option(
    "--to", metavar="AGENT", help="Give the issue to this agent, in one step.",
    shell_complete=complete.agents,
)  # fmt: skip
@click.option("--reason", metavar="TEXT", default="", help="Why; the ledger keeps it.")
@acting
@click.pass_obj
def release(
    app: App, words: tuple[str, ...], name: str | None, to: str | None, reason: str
) -> None:
    """Give back issues and leases.

    12, #12 and I-3f9a are issues, L-3f9a is a lease, and all else is a pattern, exactly as it was
    leased (`./12` is a file). The holder may, a person always, and others when the holder is dead.
    """
    issues = [word for word in words if _is_issue(word)]
    leases = [word for word in words if not _is_issue(word)]
    if to and (leases or name or not issues):
        raise UsageError(
            "Only an issue can be given to somebody.",
            hint="`ghp agent-release 12 --to worker-2`.",
        )
    if not words and name is None:
        raise UsageError(
            "Nothing is named that should be given back.",
            hint="Name an issue (12), a lease (L-3f9a, as `ghp agent-leases` shows), its pattern, "
            "or --name RESOURCE.",
        )
    for word in issues:
        with output.busy("Giving it back"):
            released = services.release(app, word, to=to, reason=reason)
        _say_released(released, to)
    if leases or name is not None:
        _release_leases(app, leases, name, reason)
    start_background(app)


def _is_issue(word: str) -> bool:
    digits = word.removeprefix("#")
    return (digits.isascii() and digits.isdigit()) or word[:2].lower() == "i-"


def _say_released(released: ReleasedClaim, to: str | None) -> None:
    name = issue_view.name(released.issue)
    if released.changed and to:
        output.done(f"{name} is {to}'s now.")
    elif released.changed:
        previous = f"; it was {named(released.previous)}'s" if released.previous else ""
        output.done(f"{name} is given back{previous}.")
    else:
        output.say(f"{name} is {to}'s already." if to else f"Nobody holds {name}.")


def _release_leases(app: App, words: list[str], name: str | None, reason: str) -> None:
    from ghp_agents.leases import service as lease

    released = lease.release(app, words, name=name, cwd=app.cwd, reason=reason)
    for hold in released.holds:
        mine = (hold.holder, hold.is_person) == (released.by.name, released.by.is_person)
        whose = "" if mine else f", {named(hold.holder, hold.is_person)}'s"
        output.done(f"{hold.short} ({_describe(hold)}{whose}) is given back.")


def _describe(hold: Hold) -> str:
    return hold.name or " ".join(hold.patterns)
