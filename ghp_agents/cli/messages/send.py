"""`agent-send`: a message to agents."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.context import acting
from ghp_agents.cli.context import send as send_now
from ghp_agents.cli.messages import channels, interrupt
from ghp_agents.cli.params import METADATA, STDIN, Duration
from ghp_agents.cli.views import message as view
from ghp_agents.core.errors import UsageError
from ghp_agents.core.metadata import NO_METADATA, Metadata
from ghp_agents.messages import service as services
from ghp_agents.messages import texts, topic_list
from ghp_agents.messages.message import DEFAULT_URGENCY, KINDS, REVIEW, URGENCIES
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.pulls.merging.review_request import Subject


@click.command(
    "agent-send",
    epilog="Example: ghp agent-send worker-2 'Review the parser' --kind review --issue 12",
)
@click.argument("words", metavar="TO... SUBJECT", nargs=-1, shell_complete=complete.agents)
@click.option("--body", metavar="TEXT", help="What the message says.")
@click.option(
    "--body-file", metavar="FILE", help="A file with the body; `-` reads standard input.",
    shell_complete=complete.files,
)  # fmt: skip
@click.option("--payload", metavar="JSON", default="",
              help="The fields that the topic requires, instead of a body.")  # fmt: skip
@click.option(
    "--kind", type=click.Choice(KINDS),
    help="A note (default) only informs; the others ask for something.",
)  # fmt: skip
@click.option("--reply-to", metavar="ID", help="The message that it answers.")
@click.option("--issue", metavar="N", help="The issue that it is about.",
              shell_complete=complete.issues)  # fmt: skip
@click.option(
    "--urgency", type=click.Choice(URGENCIES), default=DEFAULT_URGENCY, show_default=True,
    help="The recipient sees the most urgent message first.",
)  # fmt: skip
@click.option("--ack-within", metavar="TIME", type=Duration(), default="0s", show_default=False,
              help="The time by which somebody must begin: 30m, 2h.")  # fmt: skip
@click.option("--done-within", metavar="TIME", type=Duration(), default="0s", show_default=False,
              help="The time by which it must be done.")  # fmt: skip
@click.option(
    "--or-agent", metavar="AGENT", default="", shell_complete=complete.agents,
    help="The agent that does it if the recipient is absent, or does not begin by --ack-within.",
)  # fmt: skip
@click.option("--quorum", metavar="N", type=click.IntRange(0, 1000), default=0, show_default=False,
              help="For a proposal: the votes needed by --done-within (default: 1d).")  # fmt: skip
@click.option("--expires", metavar="TIME", type=Duration(), default="0s", show_default=False,
              help="The time after which nobody needs to read it.")  # fmt: skip
@click.option("--artifact", "artifacts", metavar="NAME", multiple=True,
              help="A path, a commit or a URL that belongs to it; repeatable.")  # fmt: skip
@METADATA
@click.option("--written", is_flag=True, help="Send what you wrote in the files of channels.")
@click.option("-y", "--yes", is_flag=True, help="With --written: do not ask whether you wrote it.")
@json_choice.option("Print the message as JSON.")
@acting
def send(
    app: App,
    words: tuple[str, ...],
    body: str | None,
    body_file: str | None,
    payload: str,
    kind: str | None,
    reply_to: str | None,
    issue: str | None,
    urgency: str,
    ack_within: float,
    done_within: float,
    or_agent: str,
    quorum: int,
    expires: float,
    artifacts: tuple[str, ...],
    metadata: Metadata | None,
    written: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Send a message to agents, in all clones, and print its id.

    TO is an agent, @orchestrator, @capability:NAME, @all, or a topic such as @code.completed (`ghp
    agent-topic list`). An agent reads it at its next step, or when it starts. In a group, one agent
    claims the request. Repeating the command at once sends nothing more.

    A SUBJECT that begins with @interrupt sends nothing: it ends the agent's step, as `ghp
    agent-stop --keep` does.
    """
    if yes > written or (written and words):
        raise UsageError(
            "--written stands alone, or with --yes.", hint="Run `ghp agent-send --written`."
        )
    if written:
        channels.send_written(app, yes=yes)
        return
    if len(words) < 2:
        raise UsageError(
            "A message needs a recipient and a subject.",
            hint="Example: `ghp agent-send worker-2 'The parser is ready'`.",
        )
    if interrupt.is_meant(words[-1]):
        interrupt.run(app, words[:-1], words[-1], as_json=as_json)
        return
    if body is not None and body_file is not None:
        raise UsageError("--body and --body-file exclude each other.", hint="Use one of them.")
    text = _body(body_file) if body_file else body or ""
    kind = kind or topic_list.kind_for(words[:-1])
    subject = _subject(app, issue) if kind == REVIEW else None
    draft = services.Draft(
        words[:-1], words[-1], text, kind, urgency, reply_to or "", issue, int(ack_within),
        int(done_within), int(expires), artifacts, payload,
        *(subject[:2] if subject else (0, "")), quorum, or_agent, _workflow(app, words, payload),
        metadata or NO_METADATA,
    )  # fmt: skip
    result = services.send(app, draft)
    message = result.message
    if as_json:
        output.as_json(view.as_json(message))
    else:
        output.result(message.name)
    if result.is_new:
        output.done(f"Sent {message.name} to {', '.join(message.to)}: {message.subject}")
    else:
        output.say(f"Already sent as {message.name}.")
    if message.workflow:
        output.say(f"It starts the workflow {message.workflow}.")
    for note in (*result.notes, *([subject.note] if subject and subject.note else ())):
        output.warn(note)
    output.flush()
    channels.refresh(app)
    send_now(app)


def _workflow(app: App, words: tuple[str, ...], payload: str) -> str:
    """The workflow that a message to a topic starts."""
    if not any(word.startswith("@") for word in words[:-1]):
        return ""
    from ghp_agents.workflows import starts  # most messages are for one agent

    return starts.of_message(app.ws, words[:-1], payload)


def _subject(app: App, issue: str | None) -> "Subject | None":
    """What a review is about: the pull request of the issue, by default of the current one."""
    from ghp_agents.issues.numbers import named_or_current

    agent = None if app.ws.actor().is_person else app.ws.agent()
    number = named_or_current(app, agent, issue)
    if number is None:
        return None
    from ghp_agents.pulls.merging import review_request

    return review_request.subject_of(app, app.cwd, number)


def _body(name: str) -> str:
    most = 4 * texts.BODY_LIMIT
    try:
        data = sys.stdin.buffer.read(most + 1) if name == STDIN else _content(name, most + 1)
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(data) > most:
            raise _too_long(name) from None
        raise UsageError(
            f"{name} is not UTF-8 text (byte {error.start}).", hint="Name it with --artifact."
        ) from None
    except OSError as error:
        raise UsageError(f"Cannot read {name}: {error.strerror}.", hint="Check the path.") from None
    if len(data) > most:
        raise _too_long(name)
    return text


def _content(name: str, most: int) -> bytes:
    with Path(name).open("rb") as file:
        return file.read(most)


def _too_long(name: str) -> UsageError:
    return UsageError(
        f"{name} is longer than {texts.BODY_LIMIT} characters.",
        hint="Save it as a file in the repository, and name the file with --artifact.",
    )
