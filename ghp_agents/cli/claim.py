"""`agent-claim` and `agent-release`: claim an issue; release claims and leases."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from ghp_agents.claims import service as services
from ghp_agents.claims.service import ClaimResult, ReleasedClaim
from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.context import acting, start_background, sync_first
from ghp_agents.cli.views import claim as claim_view
from ghp_agents.cli.views import issue as issue_view
from ghp_agents.cli.views import remote_news
from ghp_agents.core.errors import UsageError
from ghp_agents.hotpath.quoting import named
from ghp_agents.issues.issue import job_name
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.issue import ClaimJson
    from ghp_agents.leases.hold import Hold

# Seconds for an exchange with a remote that stalls. A claim has two: it asks, and if the outcome is
# unknown, it looks. Clients end a command of their shell after a minute or two.
EXCHANGE_S = 10.0


@click.command("agent-claim", epilog="Example: ghp agent-claim --next")
@click.argument("issue", required=False, shell_complete=complete.issues)
@click.option(
    "--next",
    "best",
    is_flag=True,
    help="Pick the best ready issue, your own first. Skips epics and issues for people (labels "
    "`epic` and `agent:needs-human`).",
)
@click.option(
    "--steal",
    is_flag=True,
    help="Take it from its holder; needs --reason, and authority if the holder lives.",
)
@click.option("--reason", metavar="TEXT", default="", help="Why; recorded in the ledger.")
@json_choice.option("Print the claim as JSON.")
@acting
def claim(app: App, issue: str | None, best: bool, steal: bool, reason: str, as_json: bool) -> None:
    """Claim an issue so that no other agent takes it, and print its number.

    ISSUE is a number, or an id or the start of one (I-3f9a). Only one agent in all clones can hold
    it. If it is taken, the command exits with 3 and names the holder. You can claim the issue of a
    dead holder. With --steal, people and orchestrators can take it from a living holder. Other
    agents can do so if the holder sent no heartbeat for `agents.staleAfter` seconds, or if
    `agents.steal` is `anyone`.
    """
    if best == (issue is not None):
        raise UsageError(
            "Name an issue, or use --next.",
            hint="Run `ghp agent-claim 12` or `ghp agent-claim --next`.",
        )
    if best and (steal or reason):
        raise UsageError(
            "--next cannot be used with --steal or --reason.",
            hint="To steal an issue, name it by its number.",
        )
    app.limit_waiting(EXCHANGE_S)
    with output.busy("Claiming"):
        sync_first(app, only_first=not steal)  # to steal, the news of the holder counts
        if issue is None:
            claimed = remote_news.after_asking(app, partial(services.claim_next, app))
        else:
            claimed = remote_news.issue_after_asking(
                app, issue, lambda: services.claim(app, issue, steal=steal, reason=reason)
            )
    if as_json:
        output.as_json(_fields(claimed))
    else:
        output.result(str(claimed.issue.number))
    claim_view.say_claimed(claimed, app.ws.actor())
    claim_view.say_waiting(app, claimed.issue.number, claimed.lock)
    start_background(app)


def _fields(claimed: ClaimResult) -> "ClaimJson":
    return {
        "issue": claimed.issue.number,
        "title": claimed.issue.title,
        "holder": claimed.lock.holder,
        "generation": claimed.lock.generation,
        "since": claimed.lock.acquired_at,
        "how": claimed.how,
        "previous": claimed.previous,
        "waitsFor": list(claimed.waits_for),
    }


@click.command("agent-release", epilog="Example: ghp agent-release 12 --to worker-2")
@click.argument(
    "words", nargs=-1, metavar="[ISSUE|LEASE|PATTERN]...", shell_complete=complete.to_release
)
@click.option(
    "--name",
    metavar="RESOURCE",
    help="Release the lease with this name.",
    shell_complete=complete.resources,
)
@click.option(
    "--to", metavar="AGENT", help="Give the issue to this agent, in one step.",
    shell_complete=complete.agents,
)  # fmt: skip
@click.option("--reason", metavar="TEXT", default="", help="Why; recorded in the ledger.")
@acting
def release(
    app: App, words: tuple[str, ...], name: str | None, to: str | None, reason: str
) -> None:
    """Release issues and leases.

    12, #12, I-3f9a and the name of a job are issues; L-3f9a is a lease. Anything else is a pattern,
    exactly as it was leased (`./12` is a file). The holder and people can always release them.
    Other agents can if the holder is dead.
    """
    jobs = _jobs(app, words)
    issues = [word for word in words if _is_issue(word) or word in jobs]
    leases = [word for word in words if word not in issues]
    if to and (leases or name or not issues):
        raise UsageError(
            "--to needs an issue.",
            hint="Use `ghp agent-release 12 --to worker-2`.",
        )
    if not words and name is None:
        raise UsageError(
            "Name at least one issue or lease to release.",
            hint="Name an issue (12), a lease (L-3f9a, see `ghp agent-leases`), its pattern, or "
            "--name RESOURCE.",
        )
    if len(words) + (name is not None) > 1:
        _check_all(app, issues, leases, name, to)
    former: list[str] = []
    for word in issues:
        with output.busy("Releasing"):
            released = remote_news.issue_after_asking(
                app, word, partial(services.release, app, word, to=to, reason=reason)
            )
        _say_released(released, to)
        if released.changed and to:
            claim_view.warn_of_unknown(app, to, released.issue.number)
        if released.changed:
            claim_view.say_waiting(app, released.issue.number)
            former.append(released.previous or app.ws.actor().name)
    if leases or name is not None:
        _release_leases(app, leases, name, reason)
    for holder in dict.fromkeys(former):
        claim_view.say_left_over(app, holder)
    start_background(app)


def _jobs(app: App, words: Sequence[str]) -> set[str]:
    """The names of jobs, if some of the words may be one."""
    if all(map(_is_issue, words)):
        return set()
    return {job_name(issue) for issue in app.tracker.known()} - {""}


def _is_issue(word: str) -> bool:
    digits = word.removeprefix("#")
    return (digits.isascii() and digits.isdigit()) or word[:2].lower() == "i-"


def _say_released(released: ReleasedClaim, to: str | None) -> None:
    name = issue_view.name(released.issue)
    if released.changed and to:
        output.done(f"Gave {name} to {to}.")
    elif released.changed:
        previous = f" (was held by {named(released.previous)})" if released.previous else ""
        output.done(f"Released {name}{previous}.")
    else:
        output.say(f"{to} already holds {name}." if to else f"Nobody holds {name}.")


def _check_all(
    app: App, issues: list[str], leases: list[str], name: str | None, to: str | None
) -> None:
    """Of several objects, none is released if one is wrong."""
    from ghp_agents.leases import service as lease

    for word in issues:
        remote_news.issue_after_asking(app, word, partial(services.check_release, app, word, to=to))
    if leases or name is not None:
        lease.to_release(app, leases, name=name, cwd=app.cwd)


def _release_leases(app: App, words: list[str], name: str | None, reason: str) -> None:
    from ghp_agents.leases import service as lease

    released = lease.release(app, words, name=name, cwd=app.cwd, reason=reason)
    for hold in released.holds:
        mine = (hold.holder, hold.is_person) == (released.by.name, released.by.is_person)
        whose = "" if mine else f", {named(hold.holder, hold.is_person)}'s"
        output.done(f"Released {hold.short} ({_describe(hold)}{whose}).")


def _describe(hold: "Hold") -> str:
    return hold.name or " ".join(hold.patterns)
