"""`agent-init --hooks`: install or remove only the hooks."""

import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import click

from ghp_agents.cli import output
from ghp_agents.cli.context import is_interactive
from ghp_agents.core.errors import GhpError, NotSetUpError, UsageError
from ghp_agents.integrations.clients import (
    advice,
    aider,
    codex_config,
    config_files,
    folder_trust,
    instructions,
)
from ghp_agents.integrations.clients import install as client_hooks
from ghp_agents.integrations.clients.codex_config import CODEX
from ghp_agents.integrations.clients.config_files import GIT, ConfigFile
from ghp_agents.integrations.clients.hook_entries import HOMES
from ghp_agents.integrations.git_hooks import install as git_hooks
from ghp_agents.state.admin_port import Step
from ghp_agents.wiring import App

NOTHING = "Nothing to do: "


class Guards(NamedTuple):
    """The hooks that were chosen, and the files that they belong in."""

    clients: list[str]
    targets: list[ConfigFile]
    is_users: bool  # in the user's own files, for all repositories


def choose(app: App, words: str, *, user: bool, remove: bool) -> Guards:
    """The hooks that `--hooks WORDS` selects. Raises UsageError, NotSetUpError."""
    folders = [] if user else [app.ws.folder, app.ws.root]
    present = config_files.found(folders, app.environ)
    if words == config_files.FOUND and remove:
        present = [*HOMES] if user else [*HOMES, GIT]
    clients = config_files.chosen(words, present)
    if user and GIT in clients:
        raise UsageError(
            "git's hooks belong to a repository, not to a user.",
            hint="Omit --user, or name other clients.",
        )
    if user:
        return Guards(clients, config_files.of_user(app.environ, clients), is_users=True)
    return Guards(clients, config_files.here(app.ws, clients), is_users=False)


def to_put(app: App, selection: Guards) -> list[Step]:
    """The hooks that are not installed yet."""
    common_dir = None if selection.is_users else app.ws.common_dir
    steps = client_hooks.to_put(selection.targets, python(), app.environ, common_dir)
    return [*steps, *(git_hooks.to_put(app.ws, python()) if GIT in selection.clients else [])]


def python() -> str:
    if not sys.executable:
        raise NotSetUpError(
            "Cannot find the path of this Python interpreter, so hooks cannot call it.",
            hint="Start ghp with the full path of its interpreter: /path/to/python -m ghp_agents …",
        )
    return sys.executable


def to_take(app: App, selection: Guards) -> list[Step]:
    """Our hooks that can be removed."""
    common_dir = None if selection.is_users else app.ws.common_dir
    steps = client_hooks.to_take(selection.targets, common_dir)
    if common_dir is not None and CODEX in selection.clients:
        steps += codex_config.to_take(app.ws)
    return [*steps, *(git_hooks.to_take(app.ws) if GIT in selection.clients else [])]


def all_of_clone(app: App) -> list[Step]:
    """Removal of all our hooks in this clone, and of the block for agents."""
    hooks = to_take(app, choose(app, config_files.FOUND, user=False, remove=True))
    return [*hooks, *(instructions.to_take(app.ws.root) if app.ws.place.toplevel else [])]


def kept_for_user(app: App) -> Iterator[str]:
    """A line for each file in the user's home with hooks that serve all repositories."""
    for target in config_files.of_user(app.environ, [*HOMES]):
        if client_hooks.python_in(target):
            command = f"ghp agent-init --remove --hooks {target.client} --user"
            yield f"the hooks in {target.shown}: they serve all repositories; `{command}`"


def put_for_user(app: App, selection: Guards, *, dry_run: bool) -> None:
    """`agent-init --hooks --user`: needs no repository and sets none up."""
    steps = to_put(app, selection)
    if not steps:
        output.done(f"{NOTHING}the hooks are installed.")
        return
    carry_out(steps, dry_run=dry_run)
    if not dry_run:
        say_advice(app, selection)


def remove_guards(app: App, selection: Guards, *, dry_run: bool) -> None:
    """`agent-init --hooks --remove`."""
    steps = to_take(app, selection)
    if steps:
        carry_out(steps, dry_run=dry_run)
    else:
        output.done(f"{NOTHING}these hooks are not installed.")
    for target in (
        [] if selection.is_users else config_files.of_user(app.environ, selection.clients)
    ):
        if client_hooks.python_in(target):
            output.say(f"Kept the hooks in {target.shown}; with --user they are removed, too.")


def carry_out(steps: Sequence[Step], *, dry_run: bool) -> None:
    """Perform the steps, or print them."""
    for step in steps:
        if dry_run:
            output.page(output.clean(f"Would {step.doing} {step.what}."))
        else:
            _act(step)
            output.done(output.clean(f"{step.did} {step.what}."))


def _act(step: Step) -> None:
    try:
        step.act()
    except OSError as error:
        raise GhpError(
            f"Could not {step.doing} {step.what}: {error}.",
            hint="Fix that and run the command again; it continues where it stopped.",
        ) from None


def say_advice(app: App, selection: Guards) -> None:
    """Print advice about the hooks that were just installed."""
    for text, hint in _advice(app, selection):
        output.warn(output.clean(text), hint)


def offer_sandbox(app: App, selection: Guards) -> None:
    """Ask a person whether Codex's sandbox may write where our commands do; else say how."""
    folder = codex_config.closed(app.ws) if CODEX in selection.clients else None
    if folder is None:
        return
    fact, hint = (output.clean(text) for text in codex_config.advice(folder))
    tops = [target.top for target in selection.targets if target.client == CODEX]
    steps = codex_config.to_open(app.ws, tops)
    if not steps or not is_interactive():
        output.warn(fact, hint)
        return
    output.say(fact)
    files = ", ".join(output.clean(step.what) for step in steps)
    if click.confirm(f"Allow this in {files}?", err=True):
        carry_out(steps, dry_run=False)


def _others(app: App, selection: Guards) -> list[ConfigFile]:
    """The same clients' files in the other place: the user's own, or those of this clone."""
    if not selection.is_users:
        return config_files.of_user(app.environ, selection.clients)
    try:
        return config_files.here(app.ws, selection.clients)
    except NotSetUpError:
        return []


def _advice(app: App, selection: Guards) -> Iterator[tuple[str, str]]:
    yield from advice.advice(selection.clients, selection.targets, _others(app, selection))
    seen = {CODEX}  # advised above; one folder of each other client: its remedy is for all
    for gap in folder_trust.untrusted(selection.targets, app.environ):
        if gap.client not in seen:
            seen.add(gap.client)
            yield gap.fact, gap.remedy
    if client_hooks.CLAUDE in selection.clients:
        folders = [] if selection.is_users else [app.ws.folder]
        for place in config_files.plugins_enabled(folders, app.environ):
            yield (
                f"The plugin is enabled, too ({place}), so each hook would run twice.",
                "Remove one of them: `claude plugin uninstall ghp-agents`, or `ghp agent-init "
                "--hooks claude --remove`.",
            )
    if GIT in selection.clients:
        yield from git_hooks.advice(app.ws)
        folders = [app.ws.folder, app.ws.root]
        yield from aider.advice(folders, app.environ, has_hooks=True)
