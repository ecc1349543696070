"""`agent-init`: set a repository up, or take all of it away."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import click

from ghp_agents.cli import complete, output
from ghp_agents.cli.context import is_interactive
from ghp_agents.cli.list_option import ListOption, joined
from ghp_agents.cli.setup import guards
from ghp_agents.cli.setup.connect_services import connecting
from ghp_agents.cli.setup.guards import Guards
from ghp_agents.cli.setup.trust import consent_at_set_up
from ghp_agents.cli.setup.uninstall import Removal, take_away
from ghp_agents.consent import service as consent
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.ids import agent_name
from ghp_agents.doctor import setup as services
from ghp_agents.integrations.clients import instructions
from ghp_agents.integrations.clients.config_files import FOUND, NoClientError
from ghp_agents.integrations.clients.hook_entries import HOMES
from ghp_agents.presence import service as presence
from ghp_agents.pulls import update_branch
from ghp_agents.state.admin_port import Step
from ghp_agents.wiring import App


@click.command("agent-init", epilog="Example: ghp agent-init --agent worker-1")
@click.option(
    "--agent", metavar="NAME", help="Name this worktree's agent.", shell_complete=complete.agents
)
@click.option("--config", is_flag=True, help="Write .ghp/config.json if there is none.")
@click.option(
    "--hooks",
    metavar="[CLIENT,…]",
    cls=ListOption,
    callback=joined,
    is_flag=False,
    flag_value=FOUND,
    help=f"Install hooks for {', '.join(HOMES)} (default: all clients found here), or git (only if "
    "named).",
    shell_complete=complete.clients,
)
@click.option(
    "--user",
    is_flag=True,
    help="With --hooks: install them in your home folder, for all repositories.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Trust the remote's owner: accept the settings on main, now and after changes.",
)
@click.option(
    "--agents-md/--no-agents-md",
    default=None,
    help="Add a short block for agents to AGENTS.md and CLAUDE.md (default: ask, on a terminal).",
)
@click.option("--no-probe", is_flag=True, help="Do not push a test ref to the remote.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
@click.option(
    "--remove",
    is_flag=True,
    help="Remove everything of ghp-agents from this clone; with --hooks or --agents-md, only that.",
)
@click.option(
    "--remote-refs",
    is_flag=True,
    help="With --remove: also delete the refs of ghp-agents on the remote.",
)
@click.option(
    "-f", "--force", is_flag=True, help="With --remove: delete records that were never sent."
)
@click.option("-y", "--yes", is_flag=True, help="With --remove: do not ask for confirmation.")
@click.pass_obj
@connecting
def init(
    app: App,
    agent: str | None,
    config: bool,
    hooks: str | None,
    user: bool,
    trust: bool,
    agents_md: bool | None,
    no_probe: bool,
    dry_run: bool,
    remove: bool,
    remote_refs: bool,
    force: bool,
    yes: bool,
) -> None:
    """Set up this repository, or remove everything again.

    Run it once for a repository. Other clones share its state without it, but hooks are those of
    one clone: install them in each with --hooks.
    """
    if user and hooks is None:
        _refuse("needs --hooks", user=user)
    selection = _choose(app, hooks, user=user, remove=remove) if hooks is not None else None
    if remove:
        _refuse(
            "cannot be used with --remove",
            agent=agent,
            config=config,
            trust=trust,
            no_probe=no_probe,
        )
    else:
        _refuse("needs --remove", remote_refs=remote_refs, force=force, yes=yes)
    if remove and selection:
        _refuse(
            "cannot be used with --hooks",
            agents_md=agents_md, remote_refs=remote_refs, force=force,
        )  # fmt: skip
        guards.remove_guards(app, selection, dry_run=dry_run)
    elif remove and agents_md:
        _refuse("cannot be used with --agents-md", remote_refs=remote_refs, force=force)
        _remove_block(app, dry_run=dry_run)
    elif remove:
        removal = Removal(remote_refs=remote_refs, force=force, yes=yes, dry_run=dry_run)
        take_away(app, removal)
    elif selection and selection.is_users:
        _refuse(
            "cannot be used with --user",
            agent=agent, config=config, trust=trust, agents_md=agents_md,
        )  # fmt: skip
        guards.put_for_user(app, selection, dry_run=dry_run)
    else:
        if trust:
            consent.refuse_agents(app.ws)
        block = instructions.to_put(app.ws.root) if agents_md else []
        _set_up(app, agent, selection, block, config=config, probe=not no_probe, dry_run=dry_run)
        if not dry_run:
            _ask_main_branch(app)
        if not dry_run:
            _say_commit(block if agents_md is not None else _offer_block(app))
        if not dry_run:
            consent_at_set_up(app, owner=trust)


def _choose(app: App, words: str, *, user: bool, remove: bool) -> Guards | None:
    """The hooks that `--hooks` selects; None if no client is found: all else can be set up."""
    try:
        return guards.choose(app, words, user=user, remove=remove)
    except NoClientError as error:
        if user:
            raise
        output.warn(str(error), error.hint)
        return None


def _refuse(why: str, **options: object) -> None:
    wrong = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if wrong:
        raise UsageError(f"{wrong[0]} {why}.", hint="See `ghp agent-init --help`.")


def _set_up(
    app: App,
    agent: str | None,
    selection: Guards | None,
    block: Sequence[Step],
    *,
    config: bool,
    probe: bool,
    dry_run: bool,
) -> None:
    name = agent_name(agent) if agent else None
    ws, ground = app.ws, app.ground
    rename = partial(presence.rename, ws, app.store)
    steps = services.to_make(ws, ground, agent=name, config=config, rename=rename)
    # First: a broken file stops everything.
    put = [*(guards.to_put(app, selection) if selection else []), *block]
    ask = probe and services.needs_probe(ground)
    if not steps and not put and not ask:
        hooked = " and has its hooks" if selection else ""
        output.done(f"Nothing to do: this repository is set up{hooked}.")
        return
    for line in services.explain(ground.sharing()) if steps or ask else []:
        output.say(line)
    guards.carry_out(steps, dry_run=dry_run)
    if ask and dry_run:
        output.page("Would push a test ref to the remote, and delete it again.")
    elif ask:
        _probe(app)
    guards.carry_out(put, dry_run=dry_run)
    limits = services.limits(ws)
    if limits:
        output.say(limits)
    if selection and len(put) > len(block) and not dry_run:
        guards.say_advice(app, selection)
        guards.offer_sandbox(app, selection)
    if name and ws.environ.get("GHP_AGENT") not in (None, "", name):
        output.warn(
            f"GHP_AGENT={ws.environ['GHP_AGENT']} is set and overrides the worktree's name.",
            "Unset it, or set it to the same name.",
        )


def _ask_main_branch(app: App) -> None:
    """Ask the remote for its default branch, unless it was just found to be out of reach."""
    last = app.ground.last_probe()
    if app.ground.sharing().remote is not None and last is not None and last.taken is None:
        return
    with suppress(GhpError):  # the next `ghp agent-start` says it
        error = update_branch.unclear_main(app.ws)
        if error:
            output.warn(str(error), error.hint)


def _offer_block(app: App) -> list[Step]:
    """Ask a person whether agents shall read of us in AGENTS.md; return what was written."""
    if not is_interactive() or app.ws.place.toplevel is None:
        return []
    steps = instructions.to_put(app.ws.root)
    question = f"Add a short block for agents to {' and '.join(_files(steps))}?"
    if not steps or not click.confirm(question, err=True):
        return []
    guards.carry_out(steps, dry_run=False)
    return steps


def _say_commit(block: Sequence[Step]) -> None:
    if block:
        files = " and ".join(_files(block))
        output.say(f"Commit {files}: agents branch from the main branch and read it there.")


def _files(steps: Sequence[Step]) -> list[str]:
    return [step.what.rpartition(" ")[2] for step in steps]


def _remove_block(app: App, *, dry_run: bool) -> None:
    steps = instructions.to_take(app.ws.root)
    if steps:
        guards.carry_out(steps, dry_run=dry_run)
    else:
        output.done(f"{guards.NOTHING}no file here has the block for agents.")


def _probe(app: App) -> None:
    with output.busy("Testing whether the remote accepts our refs"):
        outcome = app.ground.probe()
    if outcome is None:
        return
    line = services.probe_line(outcome)
    if outcome.taken:
        output.done(f"{line}.")
    elif outcome.taken is None:
        output.warn(
            line, "Everything works in this clone. Try again with `ghp agent-doctor --probe`."
        )
    else:
        output.warn(
            line,
            "Works in this clone only; other clones will not see it. Name a remote that accepts "
            'them, such as a fork, in .ghp/config.json: "agents": {"remote": "fork"}.',
        )
