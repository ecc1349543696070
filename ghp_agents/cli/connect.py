"""`agent-init --github`, `--labels` and `--ghp`: connect a repository to GitHub and upstream."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import click

from ghp_agents.cli import guards, output
from ghp_agents.cli.handover import next_ghp
from ghp_agents.core.errors import GhpError, NotSetUpError, UsageError
from ghp_agents.github import setup as github_setup
from ghp_agents.github.action_ref import checked
from ghp_agents.wiring import App

NOTHING = "Nothing to do: "
WITH = ("remove", "dry_run", "yes")  # the other options that these may be combined with
OPTIONS = (
    click.option(
        "--ghp", is_flag=True, help="Register hooks with upstream's ghp; --remove takes them away."
    ),
    click.option("--labels", is_flag=True, help="Make the labels that are missing on GitHub."),
    click.option(
        "--github",
        is_flag=True,
        help="Write issue forms, templates and a workflow into .github; --remove takes them away.",
    ),
    click.option(
        "--action",
        metavar="OWNER/NAME@COMMIT",
        help="With --github: the action that the workflow runs, by its full commit.",
    ),
)


class ConnectChoice(NamedTuple):
    """The options that were given."""

    github: bool
    labels: bool
    ghp: bool
    action: str = ""  # owner/name@commit, for `github`


def connecting(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options above to a command; the command itself runs if none of them is given."""

    @wraps(command)
    def run(
        app: App, *, github: bool, labels: bool, ghp: bool, action: str | None, **others: Any
    ) -> None:
        if action is not None and (not github or others["remove"]):
            raise UsageError("--action is only for --github.", hint="See `ghp agent-init --help`.")
        choice = ConnectChoice(github, labels, ghp, checked(action) if action is not None else "")
        if not any(choice):
            command(app, **others)
            return
        wrong = [name for name, value in others.items() if value and name not in WITH]
        if wrong:
            option = next(name for name, is_meant in choice._asdict().items() if is_meant)
            raise UsageError(
                f"--{wrong[0].replace('_', '-')} is not for --{option}.",
                hint="See `ghp agent-init --help`.",
            )
        connect(app, choice, remove=others["remove"], dry_run=others["dry_run"])

    decorated: Callable[..., None] = run
    for option in OPTIONS:
        decorated = option(decorated)
    return decorated


def connect(app: App, choice: ConnectChoice, *, remove: bool, dry_run: bool) -> None:
    """Connect what was chosen, or remove it."""
    if remove and choice.labels:
        raise UsageError(
            "--labels is not for --remove: issues may have them.",
            hint="Delete a label on GitHub, where its page says what has it.",
        )
    if choice.github and remove:
        _remove_files(app, dry_run=dry_run)
    elif choice.github:
        _write_files(app, choice.action, dry_run=dry_run)
    if choice.labels:
        _make_labels(app, dry_run=dry_run)
    if choice.ghp:
        _register_upstream_hooks(app, remove=remove, dry_run=dry_run)


# ------------------------------------------------------------------------------ files


def _write_files(app: App, action: str, *, dry_run: bool) -> None:
    plan = github_setup.to_write(app.ws, action)
    guards.carry_out(plan.steps, dry_run=dry_run)
    for kept in plan.kept:
        output.warn(
            f"{kept.path} is yours, and stays as it is. What ours would change:",
            "Take over by hand what you like, or remove the file and run the command again.",
        )
        output.data(output.clean(kept.change))
    if plan.steps and not dry_run:
        output.say(
            "GitHub reads them from the default branch: commit them. Forms set labels that are "
            "there: `ghp agent-init --labels` makes them."
        )
    elif not plan.steps and not plan.kept:
        output.done(f"{NOTHING}the files are there.")
    if not (action or dry_run) and github_setup.lacks_workflow(app.ws):
        output.warn(
            f"There is no safe {github_setup.WORKFLOW}: this ghp-agents was not installed from a "
            "commit on GitHub, so there is no action that a workflow could pin.",
            "Name one: `ghp agent-init --github --action OWNER/NAME@COMMIT`.",
        )


def _remove_files(app: App, *, dry_run: bool) -> None:
    plan = github_setup.to_take(app.ws)
    guards.carry_out(plan.steps, dry_run=dry_run)
    for kept in plan.kept:
        output.say(f"{kept.path} is yours, and stays.")
    if not plan.steps:
        output.done(f"{NOTHING}there are no such files of ours.")


# ------------------------------------------------------------------------------ labels


def _make_labels(app: App, *, dry_run: bool) -> None:
    hub = app.hub
    if hub is None:
        raise NotSetUpError(
            "Issues of this repository are not on GitHub, so there are no labels to make.",
            hint="A remote on GitHub and a token are needed: `ghp agent-doctor` says what is "
            "missing.",
        )
    from ghp_agents.github import ensure_labels as labels

    with output.busy("Asking GitHub for its labels"):
        missing = labels.missing(hub, labels.wanted(app.ws.settings))
    for label in missing:
        if dry_run:
            output.data(output.clean(f"Would make the label {label.name} in {hub.repository}."))
            continue
        labels.make(hub, label)
        output.done(f"Made the label {label.name}.")
    if not missing:
        output.done(f"{NOTHING}{hub.repository} has the labels.")


# ------------------------------------------------------------------------------ upstream


def _register_upstream_hooks(app: App, *, remove: bool, dry_run: bool) -> None:
    from ghp_agents.integrations.upstream_ghp import register as services

    program = next_ghp(app.environ)
    if program is None:
        _report_missing_ghp(app, remove=remove)
        return
    upstream = services.Upstream(program, app.cwd, app.environ)
    if remove:
        steps = services.to_take(upstream)
    else:
        steps = services.to_register(upstream, guards.python())
    if not steps:
        state = "there are no hooks of ours" if remove else "the hooks are there"
        output.done(f"{NOTHING}{state}.")
        return
    upstream.check()
    guards.carry_out(steps, dry_run=dry_run)


def _report_missing_ghp(app: App, *, remove: bool) -> None:
    from ghp_agents.integrations.upstream_ghp import register as services

    if remove and not services.registered(app.environ):
        output.done(f"{NOTHING}there are no hooks of ours.")
        return
    raise GhpError(
        "GHP's own `ghp` is not installed: there is none on PATH but ours.",
        hint="Install GHP as its own page says (github.com/bretwardjames/ghp), then run this "
        "again. Everything else works without it.",
    )
