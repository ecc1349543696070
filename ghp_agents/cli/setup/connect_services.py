"""`agent-init --github`, `--labels`, `--ghp`, `--mcp`: connect a repository with other programs."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import click

from ghp_agents.cli import complete, output
from ghp_agents.cli.list_option import ListOption, joined
from ghp_agents.cli.passthrough import next_ghp
from ghp_agents.cli.setup import guards, tool_server
from ghp_agents.core.errors import GhpError, NotSetUpError, UsageError
from ghp_agents.github import setup as github_setup
from ghp_agents.github.action_ref import checked
from ghp_agents.integrations.clients.config_files import FOUND
from ghp_agents.integrations.clients.server_entries import CLIENTS
from ghp_agents.wiring import App

NOTHING = "Nothing to do: "
WITH = ("remove", "dry_run", "yes")  # the other options that these may be combined with
OPTIONS = (
    click.option(
        "--ghp", is_flag=True, help="Register hooks with upstream ghp; --remove removes them."
    ),
    click.option("--labels", is_flag=True, help="Create the missing labels on GitHub."),
    click.option(
        "--github",
        is_flag=True,
        help="Write issue forms, templates and a workflow to .github; --remove removes them.",
    ),
    click.option(
        "--action",
        metavar="OWNER/NAME@COMMIT",
        help="With --github: the action that the workflow runs, with its full commit.",
    ),
    click.option(
        "--mcp",
        metavar="[CLIENT,…]",
        cls=ListOption,
        callback=joined,
        is_flag=False,
        flag_value=FOUND,
        help=f"Add the tool server to {', '.join(CLIENTS)} (default: all clients found here).",
        shell_complete=complete.clients,
    ),
)


class ConnectChoice(NamedTuple):
    """The options that were given."""

    github: bool
    labels: bool
    ghp: bool
    mcp: str = ""  # clients
    action: str = ""  # owner/name@commit, for `github`


def connecting(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options above to a command; the command itself runs if none of them is given."""

    @wraps(command)
    def run(
        app: App,
        *,
        github: bool,
        labels: bool,
        ghp: bool,
        mcp: str | None,
        action: str | None,
        **others: Any,
    ) -> None:
        if action is not None and (not github or others["remove"]):
            raise UsageError("--action needs --github.", hint="See `ghp agent-init --help`.")
        named = checked(action) if action is not None else ""
        choice = ConnectChoice(github, labels, ghp, "," if mcp == "" else mcp or "", named)
        if not any(choice):
            command(app, **others)
            return
        wrong = [name for name, value in others.items() if value and name not in WITH]
        if wrong:
            option = next(name for name, is_meant in choice._asdict().items() if is_meant)
            raise UsageError(
                f"--{wrong[0].replace('_', '-')} cannot be used with --{option}.",
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
            "--labels cannot be used with --remove, because issues may use the labels.",
            hint="Delete a label on GitHub, on the page that lists its issues.",
        )
    if choice.github and remove:
        _remove_files(app, dry_run=dry_run)
    elif choice.github:
        _write_files(app, choice.action, dry_run=dry_run)
    if choice.labels:
        _make_labels(app, dry_run=dry_run)
    if choice.ghp:
        _register_upstream_hooks(app, remove=remove, dry_run=dry_run)
    if choice.mcp:
        tool_server.change(app, choice.mcp, remove=remove, dry_run=dry_run)


def _write_files(app: App, action: str, *, dry_run: bool) -> None:
    plan = github_setup.to_write(app.ws, action)
    guards.carry_out(plan.steps, dry_run=dry_run)
    for kept in plan.kept:
        output.warn(
            f"Kept {kept.path}: you wrote or changed it. Our version differs by:",
            "Copy what you want by hand, or delete the file and run the command again.",
        )
        output.data(output.clean(kept.change))
    if plan.steps and not dry_run:
        output.say(
            "Commit these files: GitHub reads them from the default branch. The forms need "
            "labels: `ghp agent-init --labels` creates them."
        )
    elif not plan.steps and not plan.kept:
        output.done(f"{NOTHING}the files exist.")
    if not (action or dry_run) and github_setup.lacks_workflow(app.ws):
        output.warn(
            f"Cannot write a safe {github_setup.WORKFLOW}: ghp-agents was not installed from a "
            "commit on GitHub, so there is no action to pin.",
            "Name one: `ghp agent-init --github --action OWNER/NAME@COMMIT`.",
        )


def _remove_files(app: App, *, dry_run: bool) -> None:
    plan = github_setup.to_take(app.ws)
    guards.carry_out(plan.steps, dry_run=dry_run)
    for kept in plan.kept:
        output.say(f"Kept {kept.path}: you wrote or changed it.")
    if not plan.steps:
        output.done(f"{NOTHING}ghp-agents has no files there.")


def _make_labels(app: App, *, dry_run: bool) -> None:
    hub = app.hub
    if hub is None:
        raise NotSetUpError(
            "Issues of this repository are not on GitHub, so there are no labels to create.",
            hint="It needs a remote on GitHub and a token: `ghp agent-doctor` names what is "
            "missing.",
        )
    from ghp_agents.github import ensure_labels as labels

    with output.busy("Reading the labels from GitHub"):
        missing = labels.missing(hub, labels.wanted(app.ws.settings))
    for label in missing:
        if dry_run:
            output.data(output.clean(f"Would create the label {label.name} in {hub.repository}."))
            continue
        labels.make(hub, label)
        output.done(f"Created the label {label.name}.")
    if not missing:
        output.done(f"{NOTHING}{hub.repository} has the labels.")


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
        state = "no hooks are installed" if remove else "the hooks are installed"
        output.done(f"{NOTHING}{state}.")
        return
    upstream.check()
    guards.carry_out(steps, dry_run=dry_run)


def _report_missing_ghp(app: App, *, remove: bool) -> None:
    from ghp_agents.integrations.upstream_ghp import register as services

    if remove and not services.registered(app.environ):
        output.done(f"{NOTHING}no hooks are installed.")
        return
    raise GhpError(
        "Upstream `ghp` is not installed: PATH has only the `ghp` of ghp-agents.",
        hint="Install GHP (see github.com/bretwardjames/ghp), then run this again. Everything "
        "else works without it.",
    )
