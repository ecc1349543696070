"""`agent-work`: start agents on issues, without a terminal for each, and supervise them."""

import shlex
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from ghp_agents.budgets import budget
from ghp_agents.cards.container import Container
from ghp_agents.cli import output
from ghp_agents.cli.context import send_last, sync_first
from ghp_agents.cli.list_option import ListOption
from ghp_agents.cli.params import Duration
from ghp_agents.core.errors import NotSetUpError, RefusedError, UsageError
from ghp_agents.core.ids import agent_name, count
from ghp_agents.hotpath.quoting import file, phrase
from ghp_agents.runs import cards, processes, rights, runners
from ghp_agents.runs.boxes import choice
from ghp_agents.runs.launch import RunCommand
from ghp_agents.runs.policy import RunLimits
from ghp_agents.runs.supervisor import Plan, Supervisor
from ghp_agents.wiring import App

MOST = 64  # agents of one supervisor
TIME = 7_200.0  # seconds of a run
FREE_NAME = "runner-{clone}"
ENDING = "Ending the runs. Their issues stay claimed; the next `ghp agent-work` continues them."


@click.command("agent-work", epilog="Example: ghp agent-work --max 3 --runner claude")
@click.option("--agent", metavar="NAME", help="The agent's name; with --max, NAME-1, NAME-2, ….")
@click.option("--max", "most", metavar="N", type=click.IntRange(1, MOST), default=1,
              help="Run at most N agents at once (default: 1).")  # fmt: skip
@click.option(
    "--once", is_flag=True, help="End after each agent has worked on one issue, or found none."
)
@click.option(
    "--runner", metavar="CLIENT",
    help=f"The client: {', '.join(runners.RUNNERS)}, or a command with {{prompt_file}} "
    "(default: the agent's card, or claude).",
)  # fmt: skip
@click.option("--silence", metavar="TIME", type=Duration(), default="10m",
              help="End a run that prints nothing for this time (default: 10m).")  # fmt: skip
@click.option("--time", "time_", metavar="TIME", type=Duration(),
              help="End a run after this time (default: 2h).")  # fmt: skip
@click.option("--tries", metavar="N", type=click.IntRange(min=1), default=2,
              help="Give up after N failures of an agent at an issue (default: 2).")  # fmt: skip
@click.option("--pause", metavar="TIME", type=Duration(), default="30s",
              help="Pause before a repeated run, then twice as long (default: 30s).")  # fmt: skip
@click.option("--turns", metavar="N", type=click.IntRange(min=0),
              help="End a run after N turns.")  # fmt: skip
@click.option("--cost", metavar="DOLLARS", type=click.FloatRange(min=0, max=1_000_000),
              help="End a run when its agent has spent more than this on the issue.")  # fmt: skip
@click.option("--keep-env", metavar="NAME", cls=ListOption,
              help="Pass on this variable, although it gives access.")  # fmt: skip
@click.option("--no-wait", is_flag=True,
              help="Do not wait for the limit of an account: you know that it works.")  # fmt: skip
@click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS...]")
@click.pass_obj
def work(
    app: App,
    agent: str | None,
    most: int,
    once: bool,
    runner: str | None,
    silence: float,
    time_: float | None,
    tries: int,
    pause: float,
    turns: int | None,
    cost: float | None,
    keep_env: tuple[str, ...],
    no_wait: bool,
    args: tuple[str, ...],
) -> None:
    """Claim issues, start a client for each in its worktree, and supervise it.

    A client works until its pull request is open. A failed run is repeated after a pause, in the
    same session if the client can do that. After --tries failures another agent gets the issue, and
    after that a person is asked. Options after `--` go to the client.

    A limit, an outage or an expired login of the client's account uses up no try: all its agents
    wait until it works again.

    The card of --agent (`.ghp/agents/NAME.md` on main) names its client, model and limits; options
    override it. Lower limits in the setting `budgets` apply, too.

    `ghp agent-logs` shows what runs print, `ghp agent-stop NAME` ends one. Ctrl-C ends all runs.
    Their issues stay claimed, and the next `ghp agent-work` continues them.
    """
    if processes.is_run(app.environ):
        raise RefusedError(
            "This is a run of `ghp agent-work`. It cannot start others.",
            hint="Create issues for more work: `ghp agent-issue new TITLE`.",
        )
    if args and not args[0].startswith("-"):
        raise UsageError(
            f"{args[0][:40]!r} is not an option of the client; "
            "`ghp agent-work` chooses issues itself.",
            hint="A command of your own is a runner: `ghp agent-work --runner COMMAND`. For one "
            "issue: `ghp agent-start 12 --run claude`.",
        )
    card = cards.of(app.ws, agent)
    chosen = runners.find(runner or card.client or (runners.OPENAI if card.url else "claude"))
    rights.check(card, chosen.name)
    boxed = choice.of(app.ws, card, chosen.name)
    program = shutil.which(chosen.program, path=app.environ.get("PATH"))
    if isinstance(boxed, Container):
        choice.check_runner(chosen)
    elif program is None:
        raise NotSetUpError(
            f"`{chosen.program}` is not installed, or not on PATH; nothing was started.",
            hint=f"Install it, or choose another one with --runner: {', '.join(runners.RUNNERS)}.",
        )
    elif "/" in chosen.program:  # it starts in a worktree, not here
        chosen = chosen._replace(words=(str(Path(program).absolute()), *chosen.words[1:]))
    if app.name:
        raise UsageError("--as does not apply here.", hint="Name the agents with --agent NAME.")
    if chosen.name == runners.OPENAI:
        from ghp_agents.runs import model_runner  # it needs an HTTP client

        settings = {} if card.url else (app.ws.settings.runs or {}).get("openai") or {}
        args = (*cards.endpoint(card), *args)
        chosen, args = model_runner.configured(chosen, settings, args, app.environ)
    sync_first(app)
    own = app.ws.settings.budgets.get(budget.RUN, {})
    turns = int(budget.stricter(card.turns if turns is None else turns, own.get("turns", 0)))
    cost = budget.stricter(card.cost if cost is None else cost, own.get("usd", 0.0))
    seconds = (card.minutes * 60 or TIME) if time_ is None else time_
    seconds, tokens = budget.stricter(seconds, own.get("seconds", 0.0)), own.get("tokens", 0)
    role, keep = cards.instructions(app.ws, card), (*keep_env, *rights.kept(card))
    plan = Plan(
        _names(app, agent, most),
        RunCommand(chosen, args, keep, turns, cost, card.model, role, card, boxed),
        RunLimits(silence, seconds, turns, cost, tries, first_wait=pause, tokens=int(tokens)),
        once,
    )

    def make(folder: Path, name: str) -> App:
        return App(folder, app.environ, name=name, clock=app.ws.clock)

    supervisor = Supervisor(app.ws, make, plan, _tell)
    _say_pause(supervisor, no_wait=no_wait)
    if unboxed := choice.warning(app.ws, chosen.name, boxed):
        output.warn(unboxed)
    output.say(f"{count(most, 'agent')} with {chosen.name}: {', '.join(plan.agents)}.")
    with _ending(supervisor):
        supervisor.run()
        send_last(app)
    if supervisor.unusable:
        words = [word for word in chosen.words if word != runners.ARGS]
        raise NotSetUpError(
            f"The runner {file(chosen.name)} cannot start: {supervisor.unusable}.",
            hint=f"Its command is {phrase(shlex.join(words))}. Correct it, then run this "
            "again; no try was used up.",
        )
    if supervisor.given_up:
        raise click.exceptions.Exit(1)


def _say_pause(supervisor: Supervisor, *, no_wait: bool) -> None:
    """Say that the account waits since an earlier run, or end that."""
    if no_wait:
        supervisor.gate.open()
    if pause := supervisor.gate.pause:
        output.warn(f"{pause.words}.", "--no-wait begins at once.")


def _tell(text: str) -> None:
    with suppress(OSError):  # without a terminal the runs go on
        output.step(text)


def _names(app: App, base: str | None, most: int) -> tuple[str, ...]:
    name = base or FREE_NAME.format(clone=app.store.snapshot().clone[:4])
    if most == 1:
        return (agent_name(name),)
    return tuple(agent_name(f"{name}-{n}") for n in range(1, most + 1))


@contextmanager
def _ending(supervisor: Supervisor) -> Iterator[None]:
    """The first signal ends the runs in order; the second one ends this process."""

    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        supervisor.end()
        with suppress(OSError, RuntimeError):  # the terminal is gone, or a line is half written
            output.say(ENDING)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, end) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
