"""`agent-escalate`, `agent-escalations`, `agent-answer`: questions for people, and answers."""

import sys
from pathlib import Path
from typing import Any

import click

from ghp_agents.cli import complete, json_choice, output, past
from ghp_agents.cli.context import LAST_S, acting, say_none, send, start_background
from ghp_agents.cli.params import LIMIT, STDIN, Seconds, limited, read_text
from ghp_agents.cli.terminal import signals
from ghp_agents.cli.views import question as view
from ghp_agents.cli.views import remote_news
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.ids import first_line, one_line
from ghp_agents.escalations import escalation as rules
from ghp_agents.escalations import record
from ghp_agents.escalations import service as services
from ghp_agents.escalations.delivered import SETTLED, mark_told
from ghp_agents.escalations.doubtful import any_doubtful
from ghp_agents.escalations.escalation import (
    DEFAULT_URGENCY,
    URGENCIES,
    Escalation,
)
from ghp_agents.escalations.messages import ANSWERED, who
from ghp_agents.hotpath import heartbeat, news_flag, own_name
from ghp_agents.hotpath.quoting import phrase
from ghp_agents.ports import Snapshot
from ghp_agents.state.cause import DECIDED, LAST_RESORT
from ghp_agents.wiring import App
from ghp_agents.world import World

READING = ("claude", "codex")  # their hooks are given what commands printed


@click.command(
    "agent-escalate",
    epilog='Example: ghp agent-escalate "Which database?" --option SQLite --option Postgres --wait',
)
@click.argument("question", required=False)
@click.option(
    "--file", metavar="FILE", help="Ask to change this file, which another agent holds.",
    shell_complete=complete.files,
)  # fmt: skip
@click.option(
    "--issue", metavar="N", help="The issue of the question (default: your current issue).",
    shell_complete=complete.issues,
)  # fmt: skip
@click.option(
    "--option", "options", metavar="TEXT", multiple=True, help="A possible answer; repeatable."
)
@click.option(
    "--context", metavar="FILE", help="Attach this text file; `-` reads standard input.",
    shell_complete=complete.files,
)  # fmt: skip
@click.option(
    "--urgency", type=click.Choice(URGENCIES), default=DEFAULT_URGENCY, show_default=True,
    help="How much depends on the answer.",
)  # fmt: skip
@click.option("--wait", is_flag=True, help="Wait for the answer and print it.")
@click.option(
    "--timeout", metavar="SECONDS", type=Seconds(),
    help="With --wait: stop waiting after this time; the question stays open.",
)  # fmt: skip
@acting
def escalate(
    app: App,
    question: str | None,
    file: str | None,
    issue: str | None,
    options: tuple[str, ...],
    context: str | None,
    urgency: str,
    wait: bool,
    timeout: float | None,
) -> None:
    """Ask a person a question and print its id. With --wait, wait for the answer and print it.

    QUESTION is the text, or `-` to read it from standard input. Safe to run twice: an open question
    is not asked again.

    With --file, QUESTION is not needed. If a person answers yes, you get a lease of the file. The
    next sync of any clone removes the file from the other leases and notifies their holders. The
    question "May I change src/a.py?" does the same.
    """
    if file is None and question is None:
        raise UsageError(
            "The question is missing.",
            hint='Give a text: ghp agent-escalate "Which port?", or name a file that another agent '
            "holds: --file src/a.py",
        )
    if file is not None and options:
        raise UsageError(
            "--option cannot be used with --file: its answers are yes and no.",
            hint="Leave out --option.",
        )
    if timeout is not None and not wait:
        raise UsageError("--timeout needs --wait.", hint="Add --wait.")
    if question == context == STDIN:
        raise UsageError(
            "The question and --context cannot both be read from standard input.",
            hint="Give one of them as a text or a file.",
        )
    text = _read(question, "The question") if question is not None else ""
    attached = _read_context(context) if context else ""
    more: dict[str, Any] = {"issue": issue, "context": attached, "urgency": urgency}
    more["waiting"] = wait
    result = _wanted_file(app, file, text, options, more)
    if result is None:
        result = services.escalate(app, text, options=options, **more)
    _report_escalation(result)
    if wait:
        start_background(app, urgent=True)
        _wait(app, result.escalation, timeout)
    else:
        output.result(result.escalation.name)
        output.flush()
        send(app)


def _wanted_file(
    app: App, file: str | None, text: str, options: tuple[str, ...], more: dict[str, Any]
) -> services.EscalateResult | None:
    """Ask for one file, by --file or in the agent's own words; None for any other question."""
    if file is None and not text.lstrip().casefold().startswith("may i "):
        return None  # without an import that most questions do not need
    from ghp_agents.guard import wanted_file

    if file is not None:
        return wanted_file.ask(app, file, Path.cwd(), text, **more)
    if options and options != wanted_file.OPTIONS:
        return None
    return wanted_file.ask_as_meant(app, text, Path.cwd(), **more)


def _report_escalation(result: services.EscalateResult) -> None:
    name = result.escalation.name
    if result.is_new:
        output.done(f"Asked {name}. To answer: ghp agent-answer {name} TEXT")
    elif result.escalation.is_open:
        output.say(f"Already asked as {name}; nobody has answered yet.")
    else:
        output.say(f"Already asked as {name}; it has an answer now.")
    for note in result.notes:
        output.warn(note)


def _wait(app: App, escalation: Escalation, timeout: float | None) -> None:
    from ghp_agents.escalations.wait import wait

    stays = (
        f"The question stays open. Show it with `ghp agent-escalations {escalation.name}`, or run "
        "the same command to wait again. `ghp agent-status` reports the answer."
    )
    why: dict[str, str] = {}

    def is_settled(snapshot: Snapshot) -> bool:
        (now,) = _marked(World(app, snapshot), [escalation])
        why.update({now.id: now.settled} if now.settled else {})
        return bool(why)

    try:
        with signals.exit_on_signals(), output.busy(f"Waiting for an answer to {escalation.name}"):
            answer = wait(app, escalation, timeout=timeout, is_settled=is_settled)
    except KeyboardInterrupt:
        output.say(stays)
        raise
    if why:
        mark_told(app.ws, app.ws.agent(), [f"{SETTLED}{escalation.id}"])
        raise GhpError(
            f"{escalation.name} needs no answer any more: {why[escalation.id]}.",
            hint="Continue. If you are still refused, ask again.",
        )
    if answer is None:
        raise GhpError(f"No answer to {escalation.name} within {timeout or 0:g} s.", hint=stays)
    output.say(f"{escalation.name}{ANSWERED}{who(answer.by)}:")
    output.page(answer.text)
    output.flush()
    agent = app.ws.agent()
    if _has_reading_hooks(app):  # they know whether the model reads what is printed here
        news_flag.set_flag(app.ws.folders, agent)
    else:
        mark_told(app.ws, agent, [answer.id])


def _has_reading_hooks(app: App) -> bool:
    """Whether this is a session whose hooks see what its commands print."""
    kind, session = heartbeat.session(app.environ)
    return kind in READING and bool(session and own_name.find(app.ws.folders, session))


def _read_context(name: str) -> str:
    limit = services.CONTEXT_LIMIT
    data = sys.stdin.buffer.read(limit + 1) if name == STDIN else _read_file(name, limit)
    shown = "standard input" if name == STDIN else name
    text, is_cut = services.context_of(data, shown)
    if is_cut:
        part = f"only the first {limit // 1024} kB"
        output.warn(f"Attached {part} of {shown}.")
        text = f"{text}\n… (cut: {part} attached)"
    return text


def _read_file(name: str, limit: int) -> bytes:
    try:
        with Path(name).open("rb") as file:
            return file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"Cannot read {name}: {reason}.", hint="Name a text file.") from None


def _read(text: str, what: str) -> str:
    return read_text(text, 4 * services.TEXT_LIMIT, f"{what} on standard input")


@click.command("agent-escalations", epilog="Example: ghp agent-escalations --open --mine")
@click.argument("id", required=False, shell_complete=complete.questions)
@click.option("--open", "only_open", is_flag=True, help="Only questions that wait for an answer.")
@click.option("--mine", is_flag=True, help="Only questions of this agent.")
@click.option(
    "--issue", metavar="N", help="Only questions about this issue.", shell_complete=complete.issues
)
@LIMIT
@past.AT
@json_choice.option("Print them as JSON.")
@acting
def escalations(
    app: App,
    id: str | None,
    only_open: bool,
    mine: bool,
    issue: str | None,
    limit: int | None,
    at: str | None,
    as_json: bool,
) -> None:
    """List questions, unanswered ones first. With an ID, show one in full."""
    then = past.time_of(app, at)
    if then is None:
        remote_news.hear(app)
    world = World(app, at=then)
    all_escalations, problems = services.read_all(world)
    chosen = [rules.find(all_escalations, id)] if id is not None else all_escalations
    chosen = _marked(world, chosen)
    if only_open:
        chosen = [escalation for escalation in chosen if escalation.is_open]
    if mine:
        agent = app.ws.agent()
        chosen = [escalation for escalation in chosen if escalation.question.agent == agent]
    if issue is not None:
        numbers = app.tracker.get(issue).numbers
        chosen = [escalation for escalation in chosen if escalation.question.issue in numbers]
    if limit is not None:
        chosen = limited(rules.by_need(chosen), limit)
    if as_json:
        output.as_json([view.as_json(escalation) for escalation in chosen])
    elif id is not None:
        output.page("\n\n".join(view.page(escalation, then) for escalation in chosen))
    elif not chosen:
        say_none(app, "No questions.")
    else:
        now = app.ws.clock.now() if then is None else then
        view.table(rules.by_need(chosen), rules.short_names(all_escalations), now)
    for problem in problems:
        output.warn(f"Cannot read {problem.place}: {problem.reason}.")
    if then is None:
        start_background(app)


def _marked(world: World, chosen: list[Escalation]) -> list[Escalation]:
    """The questions; those that need no answer any more say why."""
    if not any_doubtful(chosen, world.snapshot):
        return chosen  # without an import
    from ghp_agents.leases import settled_questions

    return settled_questions.marked(world, chosen)


@click.command("agent-answer", epilog='Example: ghp agent-answer E-3f9a "SQLite, for now."')
@click.argument("id", shell_complete=complete.open_questions)
@click.argument("text")
@acting
def answer(app: App, id: str, text: str) -> None:
    """Answer a question. TEXT is the answer, or `-` to read it from standard input.

    The last answer counts. People and orchestrators can answer. The text of any other agent is
    advice, and the question stays open. If the question is about leases, a file or waiting agents,
    the chosen option is carried out at once.
    """
    app.limit_waiting(LAST_S)
    answered = services.answer(app, id, _read(text, "The answer"))
    own = app.store.snapshot().own(record.ESCALATIONS)
    is_elsewhere = record.path_of(answered.escalation.id) not in own
    name, asker = answered.escalation.name, answered.escalation.question.agent
    before = [other for other in answered.escalation.answers if other != answered.answer]
    if not answered.is_new:
        output.say(f"{name} already has this answer.")
    elif answered.answer in answered.escalation.advice:
        output.done(f"Added advice to {name}; only a person or an orchestrator can answer it.")
    elif before:
        last = before[-1]
        output.done(
            f"Changed the answer to {name} (was: {phrase(first_line(last.text))}, by "
            f"{who(last.by)})."
        )
    else:
        usual = "at its next status, resume or hook"
        then = "after the next sync of its clone" if is_elsewhere else usual
        output.done(f"Answered {name}. {asker} sees it {then}.")
    _warn_of_odd(answered)
    for note in answered.notes:
        output.warn(note)
    if answered.escalation.question.kind in (*DECIDED, LAST_RESORT):
        from ghp_agents.leases.carry_out import carry_out

        for note in carry_out(app):
            output.say(note)
    send(app, here=is_elsewhere)


def _warn_of_odd(answered: services.AnswerResult) -> None:
    escalation, text = answered.escalation, answered.answer.text
    if rules.is_odd(escalation.question, text):
        output.warn(
            f"{one_line(text, 60)!r} is not one of the options: "
            f"{', '.join(escalation.question.options)}.",
            f"To pick an option, run `ghp agent-answer {escalation.name} 1` (its number or text). "
            "The last answer counts.",
        )
