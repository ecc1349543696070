"""`agent-update`: bring the branch that is checked out here up to the main branch."""

from functools import partial
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import json_choice, output
from ghp_agents.cli.context import acting
from ghp_agents.cli.views import conflict as view
from ghp_agents.cli.views import remote_news
from ghp_agents.core.errors import UnapprovedError
from ghp_agents.core.ids import count
from ghp_agents.git.move_worktree import Interrupted
from ghp_agents.pulls import update_work as services
from ghp_agents.pulls.branches import rewritten_main
from ghp_agents.pulls.update_branch import Tips
from ghp_agents.pulls.update_work import UpdateConflictError, Updated
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.pull import UpdatedJson


@click.command("agent-update", epilog="Example: ghp agent-update")
@json_choice.option("Print the result as JSON.")
@acting
def update(app: App, as_json: bool) -> None:
    """Fetch main, and update the current branch from it.

    It merges or rebases, as `agents.updateMethod` says. Uncommitted changes stay uncommitted, and
    staged changes stay staged. If something conflicts, it changes nothing and shows both sides. It
    pushes nothing. If it is killed, run it again.
    """
    try:
        with output.busy("Updating"):
            updating = partial(services.update, app.ws, partial(_approve, app))
            done = remote_news.after_asking(app, updating, (UnapprovedError,))
    except UpdateConflictError as conflict:
        if as_json:
            output.as_json(_fields_of_conflict(conflict))
        else:
            for line in view.lines(conflict.files, conflict.tips.base):
                output.say(line)
        raise
    if as_json:
        output.as_json(_fields(done))
    _say(done)


def _approve(app: App, tips: Tips) -> None:
    rewritten_main.refuse(app, tips.base, tips.trunk, tips.branch, tips.head)


def _fields(done: Updated) -> "UpdatedJson":
    return {
        "branch": done.branch,
        "base": done.base,
        "old": done.old,
        "head": done.new,
        "method": done.method if done.new != done.old else None,
        "carried": done.carried,
        "replaces": done.replaces,
        "conflicts": [],
    }


def _fields_of_conflict(conflict: UpdateConflictError) -> "UpdatedJson":
    return {
        "branch": conflict.tips.branch,
        "base": conflict.tips.base,
        "old": conflict.tips.head,
        "head": conflict.tips.head,
        "method": None,
        "carried": 0,
        "replaces": False,
        "conflicts": [*conflict.files],
    }


def _say(done: Updated) -> None:
    if done.interrupted:
        _say_interrupted(done.interrupted)
    if done.new == done.old:
        output.say(f"{done.branch} is up to date with {done.base}.")
        return
    if done.method == "rebase":
        did = f"Rebased {done.branch} onto {done.base}"
    else:
        did = f"Merged {done.base} into {done.branch}"
    output.done(f"{did}. It was at {done.old[:12]}.")
    if done.carried:
        output.say(f"{count(done.carried, 'uncommitted change')} kept.")
    if done.replaces:
        output.say(
            f"{done.branch} was pushed before. The next `ghp agent-finish` replaces it on the "
            "remote, if nobody else has pushed to it."
        )
    if done.submodules:
        output.say("Submodules moved: run `git submodule update`.")


def _say_interrupted(interrupted: Interrupted) -> None:
    if interrupted.kept:
        output.warn(
            f"An earlier update of {interrupted.move.branch} was interrupted, and the branch has "
            "moved since.",
            f"The files as they were before it: `git show {interrupted.kept[:12]}:PATH`.",
        )
    else:
        output.say(f"Completed an update that was interrupted, to {interrupted.move.new[:12]}.")
