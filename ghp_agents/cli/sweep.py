"""`agent-sweep`: clean up after dead agents."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import json_choice, output
from ghp_agents.cli.context import acting, start_background
from ghp_agents.core.errors import ExitCode
from ghp_agents.core.ids import count
from ghp_agents.sweep import messages
from ghp_agents.sweep import service as services
from ghp_agents.sweep.lock import BusyError
from ghp_agents.sweep.messages import SweepLine
from ghp_agents.sweep.plan import POLICIES
from ghp_agents.sweep.report import lines
from ghp_agents.sweep.service import SweepResult
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.upkeep import BusySweepJson, SweepJson

SUMMARY = "GITHUB_STEP_SUMMARY"  # the file for a job's summary on GitHub


@click.command("agent-sweep", epilog="Example: ghp agent-sweep --policy reassign --dry-run")
@click.option(
    "--policy",
    type=click.Choice(POLICIES),
    help="What to do with a dead agent's issue (default: agents.sweepPolicy, release).",
)
@click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing.")
@click.option("--prune", is_flag=True, help="Remove worktrees and branches without an owner.")
@click.option(
    "--ephemeral/--no-ephemeral",
    default=None,
    help="This clone only sweeps and is deleted afterwards (default: if CI is set).",
)
@click.option(
    "--cache", metavar="FOLDER", type=click.Path(path_type=Path),
    help="With --ephemeral: keep GitHub's answers here for the next sweep.",
)  # fmt: skip
@json_choice.option("Print what was done as JSON.")
@acting
def sweep(
    app: App,
    policy: str | None,
    dry_run: bool,
    prune: bool,
    ephemeral: bool | None,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Free the work of dead agents and update the status page.

    Comments on the issues of silent agents. Releases the issues of dead agents with a handoff, and
    ends the leases of agents that are gone. With --prune, removes worktrees and branches that are
    merged or whose work is saved. Safe to run twice.
    """
    is_ephemeral = bool(app.environ.get("CI")) if ephemeral is None else ephemeral
    try:
        with output.busy("Sweeping"):
            swept = services.sweep(
                app,
                policy=policy, dry_run=dry_run, prune=prune, ephemeral=is_ephemeral, cache=cache,
            )  # fmt: skip
    except BusyError as busy:
        output.say(f"{busy} {busy.hint}")
        if as_json:
            nothing: BusySweepJson = {"busy": True, "acts": []}
            output.as_json(nothing)
        return
    sweep_lines = lines(swept)
    _print(swept, sweep_lines, as_json=as_json)
    _append_summary(app, swept, sweep_lines)
    if not dry_run:
        start_background(app)
    if swept.report.trouble:
        output.error(
            f"Could not send the results: {swept.report.trouble}.",
            "The next sync of this clone sends them. Run `ghp agent-doctor` to check the remote.",
        )
        raise click.exceptions.Exit(
            int(ExitCode.ERROR if swept.report.permanent else ExitCode.UNKNOWN)
        )
    if swept.failed:
        output.error(
            f"{count(swept.failed, 'action')} failed: see the lines marked ✗ above.",
            "The next sweep tries again. Run `ghp agent-doctor` to check the token and the remote.",
        )
        raise click.exceptions.Exit(
            int(ExitCode.ERROR if swept.failed_for_good else ExitCode.UNKNOWN)
        )


def _print(swept: SweepResult, sweep_lines: list[SweepLine], *, as_json: bool) -> None:
    if as_json:
        output.as_json(_fields(swept, sweep_lines))
        return
    for line in sweep_lines:
        sign = "·" if line.kind == "tell" or swept.dry_run else "✓" if line.done else "✗"
        where = f"#{line.issue}: " if line.issue else ""
        output.marked(sign, "32" if line.done else "33", f"{where}{line.text}")
    for note in swept.report.notes:
        output.say(note)
    counted = ", ".join(f"{many} {state}" for state, many in swept.agents) or "none"
    if swept.dry_run:
        output.say(f"Agents: {counted}. Dry run: nothing was done.")
    else:
        output.done(f"Swept. Agents: {counted}; actions: {swept.done}.")


def _fields(swept: SweepResult, sweep_lines: list[SweepLine]) -> "SweepJson":
    return {
        "policy": swept.policy,
        "dryRun": swept.dry_run,
        "agents": dict(swept.agents),
        "acts": sweep_lines,
        "notes": list(swept.report.notes),
        "trouble": swept.report.trouble,
    }


def _append_summary(app: App, swept: SweepResult, sweep_lines: list[SweepLine]) -> None:
    path = app.environ.get(SUMMARY)
    if not path:
        return
    notes = [*swept.report.notes, *([swept.report.trouble] if swept.report.trouble else [])]
    text = messages.summary(
        sweep_lines, swept.agents, notes, policy=swept.policy, dry_run=swept.dry_run
    )
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        output.warn(f"Cannot write the summary to {path}: {error.strerror}.")
