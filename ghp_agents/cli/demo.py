"""`agent-demo`: four agents in real repositories, in a temporary folder, in under a minute."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from ghp_agents.cli import output
from ghp_agents.cli.presence import COLUMNS, row, styles
from ghp_agents.core.clock import SystemClock
from ghp_agents.core.errors import ExitCode
from ghp_agents.demo import agents, checks, run
from ghp_agents.demo.checks import SummaryLine
from ghp_agents.demo.sandbox import Sandbox, make
from ghp_agents.presence.service import AgentView


@click.command("agent-demo", epilog="Example: ghp agent-demo --keep")
@click.option("--keep", is_flag=True, help="Keep the folder and print its path.")
@click.option("--play", "agent", metavar="AGENT", hidden=True, help="Run as one of the agents.")
@click.argument("root", required=False, type=click.Path(path_type=Path), metavar="")
@click.pass_context
def demo(ctx: click.Context, keep: bool, agent: str | None, root: Path | None) -> None:
    """Show four agents in two clones: one is blocked, one asks, one hands over, one is killed.

    Everything is in a temporary folder: a bare remote, two clones and four worktrees. No network.
    """
    clock = SystemClock()
    if agent and root:
        agents.play(Sandbox(root, clock), agent)
        return
    folder = Path(tempfile.mkdtemp(prefix="ghp-demo."))
    sandbox = Sandbox(folder / "place", clock)
    began = clock.now()
    try:
        results = _perform(sandbox, began)
    finally:
        if keep:
            output.say(f"Kept: {sandbox.root}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    failed = [check for check in results if not check.holds]
    _summary(results, clock.now() - began)
    if failed:
        ctx.exit(int(ExitCode.ERROR))


def _perform(sandbox: Sandbox, began: float) -> list[SummaryLine]:
    output.data("Creating a bare remote, two clones with two worktrees each, and five issues …")
    output.flush()
    make(sandbox)
    with output.stage() as (say, show):
        course = run.play(sandbox, _timed(say, sandbox, began), lambda views: _show(show, views))
    output.data("Checking the repositories …")
    return checks.run(sandbox, course)


def _timed(say: Callable[[str], None], sandbox: Sandbox, began: float) -> Callable[[str], None]:
    return lambda line: say(f"{sandbox.clock.now() - began:5.1f} s  {line}")


def _show(show: output.ShowTable, views: Sequence[AgentView]) -> None:
    show(COLUMNS, [row(view) for view in views], styles(views))


def _summary(results: Sequence[SummaryLine], seconds: float) -> None:
    output.data("")
    rows = [("ok" if check.holds else "FAILED", check.what, check.figure) for check in results]
    output.table(("", "CHECK", "FIGURE"), rows, ["" if c.holds else "red" for c in results])
    held = sum(check.holds for check in results)
    output.data(f"\n{held} of {len(results)} checks passed; {seconds:.0f} s.")
