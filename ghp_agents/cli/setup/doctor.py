"""`agent-doctor`: check everything, and say what to do about each finding."""

from collections.abc import Iterable
from contextlib import suppress

import click

from ghp_agents.cli import json_choice, output
from ghp_agents.core.errors import ExitCode, GhpError
from ghp_agents.core.finding import Finding, Level
from ghp_agents.doctor import service as services
from ghp_agents.git.silence import NEEDLESS_S
from ghp_agents.wiring import App

MARKS = {
    Level.OK: ("✓", "32"),
    Level.INFO: ("•", "36"),
    Level.WARNING: ("⚠", "33"),
    Level.ERROR: ("✗", "31"),
}


@click.command("agent-doctor", epilog="Example: ghp agent-doctor --fix")
@click.option("--fix", is_flag=True, help="Fix what can be fixed; no record is removed.")
@click.option("--probe", is_flag=True, help="Push a test ref to the remote, and delete it again.")
@json_choice.option("Print the findings as JSON.", "json")
@click.pass_context
def doctor(ctx: click.Context, fix: bool, probe: bool, json: bool) -> None:
    """Check the set-up; print a fix for each problem.

    Changes nothing without --fix or --probe. Exits with 1 if something is broken.
    """
    app: App = ctx.obj
    if not (fix or probe):
        with suppress(GhpError):  # outside of a repository, and for settings that are wrong
            app.limit_waiting(NEEDLESS_S)
    checks = services.checks(
        app,
        app.ground,
        probe=probe,
        hub=lambda: app.hub,
        shortcomings=lambda: app.knowledge.health(),
    )
    if fix:
        with output.busy("Checking and fixing"):
            findings = services.fix(checks, app.ground.repairs)
        _print(findings, json)
    elif json:
        with output.busy("Examining"):
            findings = list(services.examine(checks))
        _print(findings, json)
    else:
        findings = []
        for finding in services.examine(checks):  # printed one by one: the remote may be slow
            findings.append(finding)
            _print_one(finding)
            output.flush()
    if not json:
        _print_totals(findings)
    if not services.has_no_errors(findings):
        ctx.exit(int(ExitCode.ERROR))


def _print(findings: Iterable[Finding], json: bool) -> None:
    if json:
        output.as_json([*findings])
        return
    for finding in findings:
        _print_one(finding)


def _print_one(finding: Finding) -> None:
    mark, colour = MARKS[finding.level]
    output.marked(mark, colour, f"Fixed: {finding.text}" if finding.fixed else finding.text)
    if finding.remedy:
        output.page(f"  → {finding.remedy}")


def _print_totals(findings: Iterable[Finding]) -> None:
    levels = [finding.level for finding in findings]
    bad = {"error": levels.count(Level.ERROR), "warning": levels.count(Level.WARNING)}
    parts = [f"{count} {name}{'s' if count != 1 else ''}" for name, count in bad.items() if count]
    if parts:
        output.say(f"{' and '.join(parts)}.")
    else:
        output.done("No problems found.")
