"""`agent-inbox` and `agent-thread`: what was sent to an agent, and its replies."""

from collections.abc import Sequence

import click

from ghp_agents.cli import json_choice, output, past
from ghp_agents.cli.context import acting, is_interactive, send, start_background
from ghp_agents.cli.group import Group
from ghp_agents.cli.messages import channels
from ghp_agents.cli.params import Duration, read_text
from ghp_agents.cli.views import message as view
from ghp_agents.cli.views import remote_news
from ghp_agents.core.errors import UsageError
from ghp_agents.escalations.delivered import delivered_ids, mark_told
from ghp_agents.messages import news, reply, texts
from ghp_agents.messages import service as services
from ghp_agents.messages.message import ACK, CLAIMED, DONE, FAILED, NEW, Letter
from ghp_agents.messages.reply import ReplyResult
from ghp_agents.messages.topics.topic import checked_pattern, is_topic, matches
from ghp_agents.wiring import App

AS_JSON = json_choice.option("Print it as JSON.")
ALL = click.option(
    "--all", "everything", is_flag=True, help="Also list messages that are done or read."
)
SENT = click.option("--sent", is_flag=True, help="Messages that you sent, and their state.")
VERDICTS = {"approve": "approve", "changes": "request-changes"}
TOPIC = click.option(
    "--topic", metavar="PATTERN", help="Messages to these topics, including those already read.",
)  # fmt: skip
FOLLOW = click.option("--follow", is_flag=True, help="Print each new message as it comes.")
EXEC = click.option(
    "--exec", "command", metavar="CMD",
    help="With --follow: run this for each message, which it reads as JSON on standard input.",
)  # fmt: skip
EXEC_TIMEOUT = click.option(
    "--exec-timeout", "timeout", metavar="TIME", type=Duration(), default="60s", show_default=True,
    help="With --exec: end CMD after this time; the message then counts as delivered.",
)  # fmt: skip
IDS = click.argument("ids", metavar="ID...", nargs=-1, required=True)


@click.group(
    "agent-inbox",
    cls=Group,
    epilog="Example: ghp agent-inbox",
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] [ARGS]...",  # versions of click differ
)
@ALL
@SENT
@TOPIC
@FOLLOW
@EXEC
@EXEC_TIMEOUT
@past.AT
@AS_JSON
@acting
@click.pass_context
def inbox(
    ctx: click.Context, app: App, everything: bool, sent: bool, topic: str | None, follow: bool,
    command: str | None, timeout: float, at: str | None, as_json: bool,
) -> None:  # fmt: skip
    """List this agent's messages, read them, and report what became of them.

    ID is a message's id or the start of one (M-3f9a). People see what they sent: messages are for
    agents, and an agent asks a person with `ghp agent-escalate`.

    --follow prints messages, results of votes and overdue requests; hooks do not report these
    again. With --json, each is one line. CMD is a shell command; the ids are in $GHP_MESSAGE and
    $GHP_REPLY_TO. If it fails, it runs again after a pause, seven times at most.
    """
    if ctx.invoked_subcommand is not None:
        return
    if follow or command is not None:
        lists = everything or sent or topic is not None or at is not None
        _follow(app, command, timeout, follow, lists, as_json)
    else:
        _list(app, everything, sent, topic, at, as_json)


@inbox.command("list", epilog="Example: ghp agent-inbox list --all")
@ALL
@SENT
@TOPIC
@past.AT
@AS_JSON
@acting
def list_messages(
    app: App, everything: bool, sent: bool, topic: str | None, at: str | None, as_json: bool
) -> None:
    """List what was sent to this agent, the most urgent first."""
    _list(app, everything, sent, topic, at, as_json)


def _follow(
    app: App, command: str | None, timeout: float, follow: bool, lists: bool, as_json: bool
) -> None:
    from ghp_agents.cli.messages import follow as following

    if not follow:
        raise UsageError("--exec needs --follow.", hint="Add --follow.")
    if lists:
        raise UsageError(
            "--follow excludes --all, --sent, --topic and --at.", hint="Leave them out."
        )
    if command is not None and as_json:
        raise UsageError("--exec excludes --json.", hint="CMD gets JSON in any case.")
    following.follow(app, command, timeout, as_json=as_json)


def _list(
    app: App, everything: bool, sent: bool, topic: str | None, at: str | None, as_json: bool
) -> None:
    pattern = None if topic is None else checked_pattern(topic)
    actor = app.ws.actor()
    then = past.time_of_messages(app, at)
    if then is not None:
        _list_past(app, then, pattern, everything, sent or actor.is_person, as_json)
        return
    remote_news.hear(app)
    channels.refresh(app)
    if sent or actor.is_person:
        letters = _to(services.sent(app, app.store.snapshot(), actor), pattern)
        _show(app, letters, None, as_json, f"{actor} has sent no messages.")
        return
    agent = app.ws.agent()
    if not as_json and is_interactive():
        from ghp_agents.cli.messages import new_topics

        new_topics.ask(app, agent)
    letters = _to(services.inbox(app, app.store.snapshot(), agent), pattern)
    if everything or pattern is not None:
        _show(app, letters, agent, as_json, f"No messages for {agent}.")
        return
    delivered = delivered_ids(app.ws, agent)
    shown = [letter for letter in letters if _is_open(letter, agent, delivered)]
    more = f" `ghp agent-inbox --all` lists {len(letters)} older." if letters else ""
    folded = [] if as_json else [x for x in news.fold([x.message for x in shown]) if x.earlier]
    hidden = {message.id for x in folded for message in x.earlier}
    shown = [letter for letter in shown if letter.message.id not in hidden]
    _show(app, shown, agent, as_json, f"No new messages for {agent}.{more}")
    for entry in folded:
        output.say(entry.words)


def _list_past(
    app: App, then: float, pattern: str | None, everything: bool, sent: bool, as_json: bool
) -> None:
    snapshot, agent = app.store.snapshot(then), None if sent else app.ws.agent()
    if agent is None:
        letters = services.sent(app, snapshot, app.ws.actor(), then)
    else:
        letters = services.inbox(app, snapshot, agent, then)
        letters = [x for x in letters if everything or pattern or _is_open(x, agent, set())]
    _show(app, _to(letters, pattern), agent, as_json, "There were no messages at that time.", then)


def _to(letters: list[Letter], pattern: str | None) -> list[Letter]:
    """The letters to the topics of a pattern, if there is one."""
    if pattern is None:
        return letters
    topics = [[to[1:] for to in letter.message.to if is_topic(to)] for letter in letters]
    fits = [any(matches(pattern, name) for name in names) for names in topics]
    return [letter for letter, fit in zip(letters, fits, strict=True) if fit]


def _show(
    app: App, letters: Sequence[Letter], agent: str | None, as_json: bool, none: str,
    then: float | None = None,
) -> None:  # fmt: skip
    now = app.ws.clock.now() if then is None else then
    if as_json:
        output.as_json([view.letter_json(letter, now) for letter in letters])
    elif letters:
        view.table(letters, agent, now)
    else:
        output.say(none)
    if then is None:
        start_background(app)


def _is_open(letter: Letter, agent: str, delivered: set[str]) -> bool:
    """Whether a letter still asks for something, or was not read."""
    message = letter.message
    if not message.wants_work:
        return news.key_of(message) not in delivered
    if message.is_shared:
        return letter.state == NEW or (letter.state == CLAIMED and letter.holder == agent)
    return letter.state_of(agent) in (NEW, CLAIMED)


@inbox.command("read", epilog="Example: ghp agent-inbox read M-3f9a")
@click.argument("id")
@AS_JSON
@acting
def read(app: App, id: str, as_json: bool) -> None:
    """Print a message and what belongs to it. Hooks do not report it again."""
    remote_news.hear(app)
    message, thread = services.read(app, id)
    if as_json:
        output.as_json([view.as_json(part) for part in thread])
    else:
        output.page("\n".join(view.page(part) for part in thread))
    output.flush()
    if app.ws.actor().is_person:
        return
    mark_told(app.ws, app.ws.agent(), [news.key_of(part) for part in (message, *thread)])


@inbox.command("claim", epilog="Example: ghp agent-inbox claim M-3f9a")
@IDS
@acting
def claim(app: App, ids: tuple[str, ...]) -> None:
    """Begin what a message asks for, and tell its sender. In a group, one agent can claim it."""
    reply.check(app, ids, reply.Saying(ACK))
    try:
        for message_id in ids:
            _report(reply.claim(app, message_id), "Claimed", "You have claimed {} already.")
    finally:  # also if another claimed a later one meanwhile
        send(app)


@inbox.command("ack", epilog="Example: ghp agent-inbox ack M-3f9a")
@IDS
@acting
@click.pass_context
def ack(ctx: click.Context, app: App, ids: tuple[str, ...]) -> None:
    """The same as `claim`."""
    ctx.invoke(claim, ids=ids)


@inbox.command("done", epilog="Example: ghp agent-inbox done M-3f9a --result 'Fixed in 2907e5b'")
@IDS
@click.option("--result", metavar="TEXT", default="", help="The result; `-` reads standard input.")
@click.option("--artifact", "artifacts", metavar="NAME", multiple=True,
              help="A path, a commit or a URL that belongs to it; repeatable.")  # fmt: skip
@click.option(
    "--excerpt", "excerpts", metavar="PLACE", multiple=True,
    help="Lines of a committed file: src/a.py#L1-20, or 2907e5b:src/a.py; repeatable.",
)  # fmt: skip
@click.option("--commits", metavar="A..B", multiple=True,
              help="The commits of a range; repeatable.")  # fmt: skip
@click.option("--handoff", metavar="ID", help="A handoff (H-3f9a) that has the context.")
@click.option(
    "--verdict", type=click.Choice(VERDICTS),
    help="For a review: approve the pull request, or request changes.",
)  # fmt: skip
@acting
def done(
    app: App,
    ids: tuple[str, ...],
    result: str,
    artifacts: tuple[str, ...],
    excerpts: tuple[str, ...],
    commits: tuple[str, ...],
    handoff: str | None,
    verdict: str | None,
) -> None:
    """Report that you did what messages ask for, and tell their senders.

    A verdict counts as `ghp agent-review` of the commit in the request.
    """
    body = _read(result)
    if excerpts or commits or handoff:
        body, artifacts = _with_context(app, body, artifacts, excerpts, commits, handoff)
    if verdict is None:
        _finish(app, ids, body, artifacts, fails=False)
        return
    reply.check(app, ids, reply.Saying(DONE, body, artifacts, VERDICTS[verdict]))
    try:
        for message_id in ids:
            _review(app, message_id, VERDICTS[verdict], body, artifacts)
    finally:  # also if a later id is wrong
        send(app)


def _with_context(
    app: App,
    body: str,
    artifacts: tuple[str, ...],
    excerpts: tuple[str, ...],
    commits: tuple[str, ...],
    handoff: str | None,
) -> tuple[str, tuple[str, ...]]:
    """A body and artifacts with what the options add: excerpts, commits, a handoff."""
    from ghp_agents.messages import excerpt

    folder = app.ws.folder
    parts = [excerpt.of_file(folder, spec) for spec in excerpts]
    parts += [excerpt.of_commits(folder, commit) for commit in commits]
    if handoff:
        from ghp_agents.handoffs import resume

        record = resume.choose(app, handoff=handoff).handoff
        if record is not None:
            shows = f"`ghp agent-resume --handoff {record.name}` shows all of it."
            parts.append(excerpt.Excerpt(f"The handoff {record.name}: {shows}", record.name))
    texts = [body, *(part.text for part in parts)]
    return "\n\n".join(filter(None, texts)), (*artifacts, *(part.artifact for part in parts))


def _review(app: App, id: str, verdict: str, text: str, artifacts: tuple[str, ...]) -> None:
    from ghp_agents.pulls import review
    from ghp_agents.pulls.merging import review_request

    done = review_request.complete(app, app.cwd, id, verdict, text, artifacts)
    _report(done.reply, "Completed", "{} was reported before.")
    if done.review:
        what = f"{review.VERDICTS[verdict]} #{done.review.pull} at {done.review.head[:12]}"
        output.say(f"You {what}.")
    for note in done.notes:
        output.warn(note)


@inbox.command("fail", epilog="Example: ghp agent-inbox fail M-3f9a --reason 'No test data'")
@IDS
@click.option(
    "--reason", metavar="TEXT", required=True, help="The reason; `-` reads standard input."
)
@acting
def fail(app: App, ids: tuple[str, ...], reason: str) -> None:
    """Report that you cannot do what messages ask for, and tell their senders."""
    if not reason.strip():
        raise UsageError("The reason is empty.", hint="Say what is missing: --reason TEXT.")
    _finish(app, ids, _read(reason), (), fails=True)


def _finish(
    app: App, ids: tuple[str, ...], text: str, artifacts: tuple[str, ...], *, fails: bool
) -> None:
    reply.check(app, ids, reply.Saying(FAILED if fails else DONE, text, artifacts))
    try:
        for message_id in ids:
            result = reply.finish(app, message_id, text, artifacts, fails=fails)
            verb = "Reported as failed:" if fails else "Completed"
            _report(result, verb, "{} was reported before.")
    finally:  # also if a later id is wrong
        send(app)


def _read(text: str) -> str:
    return read_text(text, 4 * texts.BODY_LIMIT + 4, "The text on standard input")


def _report(result: ReplyResult, verb: str, already: str) -> None:
    message = result.letter.message
    if result.is_new:
        output.done(f"{verb} {message.name} from {message.by}: {message.subject}")
    else:
        output.say(already.format(message.name))


@click.command("agent-thread", epilog="Example: ghp agent-thread M-3f9a")
@click.argument("id")
@AS_JSON
@click.pass_obj
def thread(app: App, id: str, as_json: bool) -> None:
    """Print a conversation, oldest first: a message, what it answers, and its replies."""
    remote_news.hear(app)
    _, parts = services.read(app, id)
    if as_json:
        output.as_json([view.as_json(part) for part in parts])
    else:
        output.page("\n".join(view.page(part) for part in parts))
