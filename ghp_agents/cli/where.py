"""`agent-where`: print the path of an issue's worktree."""

from pathlib import Path

import click

from ghp_agents.cli import complete, output
from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import issue_of_branch
from ghp_agents.git import worktree_admin
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.wiring import App


@click.command("agent-where", epilog="Example: ghp agent-where 12")
@click.argument("issue", metavar="N", shell_complete=complete.issues)
@click.option("--json", "as_json", is_flag=True, help="Print the path and the branch as JSON.")
@click.pass_obj
def where(app: App, issue: str, as_json: bool) -> None:
    """Print the path of an issue's worktree in this clone, for `cd "$(ghp agent-where 12)"`.

    The branch of a worktree names its issue. If several worktrees do, `git worktree list` shows
    the same one first.
    """
    number = _number(issue)
    found = _checkout(app.ws.folder, number)
    if found is None:
        app.knowing_tracker.get(number)  # raises NotFoundError if there is no such issue
        raise NotFoundError(
            f"Issue #{number} has no worktree in this clone.",
            hint=f"Create one: `ghp agent-start {number}`.",
        )
    if as_json:
        output.as_json({"issue": number, "path": str(found.path), "branch": found.branch})
    else:
        output.data(f"{found.path}\n")


def _number(text: str) -> int:
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit()):
        raise UsageError(
            f"{text[:40]!r} is not an issue number.", hint="Example: `ghp agent-where 12`."
        )
    return int(digits)


def _checkout(folder: Path, number: int) -> Checkout | None:
    for checkout in worktree_admin.listed(folder):
        if issue_of_branch(checkout.branch or "") == number and checkout.path.is_dir():
            return checkout
    return None
