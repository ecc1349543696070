"""`agent-init`: set a repository up, or take all of it away."""

import click

from ghp_agents.cli import output
from ghp_agents.cli.removal import Removal, take_away
from ghp_agents.errors import UsageError
from ghp_agents.model.names import agent_name
from ghp_agents.services import init as services
from ghp_agents.wiring import House


@click.command("agent-init", epilog="Example: ghp agent-init --agent worker-1")
@click.option("--agent", metavar="NAME", help="Name this worktree's agent.")
@click.option("--config", is_flag=True, help="Write .ghp/config.json if there is none.")
@click.option("--no-probe", is_flag=True, help="Do not ask the remote whether it takes our refs.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--remove", is_flag=True, help="Take away all that is ours in this clone.")
@click.option("--remote-refs", is_flag=True, help="With --remove: our refs on the remote, too.")
@click.option("-f", "--force", is_flag=True, help="With --remove: lose what was never sent.")
@click.option("-y", "--yes", is_flag=True, help="With --remove: do not ask.")
@click.pass_obj
def init(
    house: House,
    agent: str | None,
    config: bool,
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
    if remove:
        _refuse("is not for --remove", agent=agent, config=config, no_probe=no_probe)
        removal = Removal(remote_refs=remote_refs, force=force, yes=yes, dry_run=dry_run)
        take_away(house, removal)
    else:
        _refuse("is only for --remove", remote_refs=remote_refs, force=force, yes=yes)
        _make(house, agent, config=config, probe=not no_probe, dry_run=dry_run)


def _refuse(why: str, **given: object) -> None:
    wrong = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if wrong:
        raise UsageError(f"{wrong[0]} {why}.", hint="See `ghp agent-init --help`.")


# ------------------------------------------------------------------------------ making


def _make(house: House, agent: str | None, *, config: bool, probe: bool, dry_run: bool) -> None:
    name = agent_name(agent) if agent else None
    ws, ground = house.ws, house.ground
    steps = services.to_make(ws, house.store, ground, agent=name, config=config)
    ask = probe and services.needs_probe(ground)
    if not steps and not ask:
        output.done("Nothing to do: this repository is set up.")
        return
    for line in services.explain(ground.sharing()):
        output.say(line)
    for step in steps:
        if dry_run:
            output.data(output.clean(f"Would {step.doing} {step.what}."))
        else:
            step.act()
            output.done(f"{step.did} {step.what}.")
    if ask and dry_run:
        output.data("Would ask the remote to take a ref, and delete it again.")
    elif ask:
        _probe(house)
    if name and ws.environ.get("GHP_AGENT") not in (None, "", name):
        output.warn(
            f"GHP_AGENT={ws.environ['GHP_AGENT']} is set and wins over the worktree's name.",
            "Unset it, or set it to the same name.",
        )


def _probe(house: House) -> None:
    with output.busy("Asking the remote whether it takes our refs"):
        found = house.ground.probe()
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
