"""`agent-demo`: four agents in real repositories, in a temporary folder, in under a minute."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click

from ghp_agents.cli import output
from ghp_agents.cli.terminal import frame, signals
from ghp_agents.cli.views.status_screen import screen
from ghp_agents.core.clock import SystemClock
from ghp_agents.core.errors import ExitCode
from ghp_agents.demo import agents, checks, night_agent, night_checks, night_jobs, run, scenes
from ghp_agents.demo import night as night_shift
from ghp_agents.demo.checks import SummaryLine
from ghp_agents.demo.night import Crew
from ghp_agents.demo.sandbox import Sandbox, make
from ghp_agents.presence.service import AgentView
from ghp_agents.reports.overview import AgentFacts, overview


@click.command("agent-demo", epilog="Example: ghp agent-demo --keep")
@click.option("--night", is_flag=True,
              help="Show a supervisor with four agents and twelve jobs instead.")  # fmt: skip
@click.option("--keep", is_flag=True, help="Keep the folder and print its path.")
@click.option("--checks", "all_checks", is_flag=True, help="Print each check and its result.")
@click.option("--play", "agent", metavar="AGENT", hidden=True, help="Run as one of the agents.")
@click.argument("root", required=False, type=click.Path(path_type=Path), metavar="")
@click.pass_context
def demo(
    ctx: click.Context,
    night: bool,
    keep: bool,
    all_checks: bool,
    agent: str | None,
    root: Path | None,
) -> None:
    """Show four agents in two clones: one is refused an edit, one asks, one hands over, one dies.

    Everything is in a temporary folder: a bare remote, two clones and four worktrees. No network.

    With --night, `agent-work` does twelve jobs: one agent is killed, one fails its check, two edit
    the same lines, and one asks. The merge queue merges all of them, and `agent-report` shows what
    happened.
    """
    clock = SystemClock()
    if agent == night_shift.PLAY:
        ctx.exit(night_agent.main(clock, _log))
    if agent and root:
        agents.play(Sandbox(root, clock), agent)
        return
    ctx.exit(show(perform_night if night else _perform, keep=keep, all_checks=all_checks))


def show(
    perform: Callable[[Sandbox], Sequence[SummaryLine]],
    *,
    keep: bool = False,
    all_checks: bool = False,
) -> int:
    """Perform in a temporary folder and print the checks; returns the exit code."""
    clock = SystemClock()
    folder = Path(tempfile.mkdtemp(prefix="ghp-demo."))
    sandbox = Sandbox(folder / "place", clock)
    began = clock.now()
    try:
        with signals.exit_on_signals():
            results = perform(sandbox)
    finally:
        if keep:
            output.say(f"Kept: {sandbox.root}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    failed = [check for check in results if not check.holds]
    _summary(results if all_checks else failed, len(results), len(failed), clock.now() - began)
    return int(ExitCode.ERROR) if failed else 0


def _perform(sandbox: Sandbox) -> list[SummaryLine]:
    output.data("Four agents work on four issues, in two clones of a repository.\n\n")
    output.flush()
    make(sandbox)
    with frame.stage() as (say, show):
        course = run.play(sandbox, partial(_tell, say), partial(_show, show))
    return checks.run(sandbox, course)


def _log(text: str) -> None:
    output.data(text)
    output.flush()


def perform_night(
    sandbox: Sandbox, crews: Callable[[Sandbox], Sequence[Crew]] = lambda _: night_shift.CREWS
) -> list[SummaryLine]:
    """The night shift; `crews` are its agents. Returns its checks."""
    count, agents_ = len(night_jobs.JOBS), night_shift.AGENTS
    output.data(f"{count} jobs that need each other, {agents_} agents, one night. You sleep.\n\n")
    output.flush()
    night_shift.make(sandbox)
    with frame.stage() as (say, draw):
        shown = partial(_tell, say), partial(_show, draw)
        runs = night_shift.play(sandbox, *shown, crews(sandbox))
    results = night_checks.summary(sandbox, runs)
    output.data("\nyou $ ghp agent-report\n\n")
    output.data(night_shift.report(sandbox))
    return results


def _tell(say: Callable[[frame.Line], None], scene: str) -> None:
    width = shutil.get_terminal_size().columns if output.is_terminal() else sys.maxsize
    for line in scenes.styled(scene, width):
        say(line)


def _show(show: Callable[[Sequence[frame.Line]], None], views: Sequence[AgentView]) -> None:
    show(screen(overview(views, AgentFacts()), *frame.size()))


def _summary(shown: Sequence[SummaryLine], count: int, failed: int, seconds: float) -> None:
    output.data("\n")
    if shown:
        rows = [("ok" if check.holds else "FAILED", check.what, check.figure) for check in shown]
        output.table(("", "CHECK", "FIGURE"), rows, ["" if c.holds else "red" for c in shown])
        output.data("\n")
    output.data(f"{count - failed} of {count} checks of both clones passed; {seconds:.0f} s.")
    output.data("Next: cd your-repo && ghp agent-init")
