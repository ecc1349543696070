"""`agent-init`: set a repository up, or take all of it away."""

import click

from ghp_agents.cli import complete, guards, output
from ghp_agents.cli.connect import connecting
from ghp_agents.cli.guards import Guards
from ghp_agents.cli.removal import Removal, take_away
from ghp_agents.cli.trust import consent_at_set_up
from ghp_agents.consent import service as consent
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import agent_name
from ghp_agents.doctor import setup as services
from ghp_agents.integrations.clients.config_files import FOUND
from ghp_agents.wiring import App


@click.command("agent-init", epilog="Example: ghp agent-init --agent worker-1")
@click.option(
    "--agent", metavar="NAME", help="Name this worktree's agent.", shell_complete=complete.agents
)
@click.option("--config", is_flag=True, help="Write .ghp/config.json if there is none.")
@click.option(
    "--hooks",
    metavar="[CLIENT,…]",
    is_flag=False,
    flag_value=FOUND,
    help="Put guards into claude, codex, gemini, cursor, opencode (default: all that are found) "
    "and git (only if named).",
    shell_complete=complete.clients,
)
@click.option("--user", is_flag=True, help="With --hooks: in your own files, for all repositories.")
@click.option(
    "--trust",
    is_flag=True,
    help="Trust the remote's owner: what the trunk names is run here, also when it changes there.",
)
@click.option("--no-probe", is_flag=True, help="Do not ask the remote whether it takes our refs.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option(
    "--remove", is_flag=True, help="Take away all that is ours in this clone; with --hooks, those."
)
@click.option("--remote-refs", is_flag=True, help="With --remove: our refs on the remote, too.")
@click.option("-f", "--force", is_flag=True, help="With --remove: lose what was never sent.")
@click.option("-y", "--yes", is_flag=True, help="With --remove: do not ask.")
@click.pass_obj
@connecting
def init(
    app: App,
    agent: str | None,
    config: bool,
    hooks: str | None,
    user: bool,
    trust: bool,
    no_probe: bool,
    dry_run: bool,
    remove: bool,
    remote_refs: bool,
    force: bool,
    yes: bool,
) -> None:
    """Set this repository up, or take all of it away.

    Once for a repository is enough: a clone of one that is set up works at once.
    """
    if user and hooks is None:
        _refuse("is only for --hooks", user=user)
    selection = guards.choose(app, hooks, user=user, remove=remove) if hooks is not None else None
    if remove:
        _refuse("is not for --remove", agent=agent, config=config, trust=trust, no_probe=no_probe)
    else:
        _refuse("is only for --remove", remote_refs=remote_refs, force=force, yes=yes)
    if remove and selection:
        _refuse("is not for --hooks", remote_refs=remote_refs, force=force)
        guards.take(app, selection, dry_run=dry_run)
    elif remove:
        removal = Removal(remote_refs=remote_refs, force=force, yes=yes, dry_run=dry_run)
        take_away(app, removal)
    elif selection and selection.is_users:
        _refuse("is not for --user", agent=agent, config=config, trust=trust)
        guards.put_for_user(app, selection, dry_run=dry_run)
    else:
        if trust:
            consent.refuse_agents(app.ws)
        _set_up(app, agent, selection, config=config, probe=not no_probe, dry_run=dry_run)
        if not dry_run:
            consent_at_set_up(app, owner=trust)


def _refuse(why: str, **options: object) -> None:
    wrong = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if wrong:
        raise UsageError(f"{wrong[0]} {why}.", hint="See `ghp agent-init --help`.")


# ------------------------------------------------------------------------------ making


def _set_up(
    app: App,
    agent: str | None,
    selection: Guards | None,
    *,
    config: bool,
    probe: bool,
    dry_run: bool,
) -> None:
    name = agent_name(agent) if agent else None
    ws, ground = app.ws, app.ground
    steps = services.to_make(app, ground, agent=name, config=config)
    # First: a broken file stops everything.
    put = guards.to_put(app, selection) if selection else []
    ask = probe and services.needs_probe(ground)
    if not steps and not put and not ask:
        hooked = " and has its hooks" if selection else ""
        output.done(f"Nothing to do: this repository is set up{hooked}.")
        return
    for line in services.explain(ground.sharing()) if steps or ask else []:
        output.say(line)
    guards.carry_out(steps, dry_run=dry_run)
    if ask and dry_run:
        output.data("Would ask the remote to take a ref, and delete it again.")
    elif ask:
        _probe(app)
    guards.carry_out(put, dry_run=dry_run)
    limits = services.limits(ws)
    if limits:
        output.say(limits)
    if selection and put and not dry_run:
        guards.say_advice(app, selection)
    if name and ws.environ.get("GHP_AGENT") not in (None, "", name):
        output.warn(
            f"GHP_AGENT={ws.environ['GHP_AGENT']} is set and wins over the worktree's name.",
            "Unset it, or set it to the same name.",
        )


def _probe(app: App) -> None:
    with output.busy("Asking the remote whether it takes our refs"):
        found = app.ground.probe()
    if found is None:
        return
    line = services.probe_line(found)
    if found.taken:
        output.done(f"{line}.")
    elif found.taken is None:
        output.warn(line, "Everything works here; ask again with `ghp agent-doctor --probe`.")
    else:
        output.warn(
            line,
            "Everything works here, and other clones see none of it. Name a remote that takes "
            'it, such as a fork: "agents": {"remote": "fork"} in .ghp/config.json.',
        )
