"""Texts about commands: help for a wrong command, and news for the agent concerned."""

from collections.abc import Iterable

from ghp_agents.core.ids import one_line
from ghp_agents.github.commands.parse import Command, Mistake
from ghp_agents.hotpath.quoting import visible, who
from ghp_agents.issues.comment_commands import REFUSED, Act, Obeyed

_HELP = """\
A command is a paragraph of its own in a comment; people who may write here can give one:

```
/agent assign NAME       give the issue to an agent
/agent stop              stop the work on it; it waits for /agent assign or /agent retry
/agent retry             back to the queue, and count its attempts from the beginning
/agent answer ID TEXT    answer a question: /agent answer E-3f9a Use SQLite
/agent status            bring the comment with the issue's state up to date
```

A reply that quotes a question answers it, too."""


def marker(comment: int) -> str:
    """The marker of the help comment for a comment."""
    return f"<!-- ghp:command {comment} -->"


def help_with(comment: int, wrong: Iterable[Act]) -> str:
    """What was wrong with a comment, and the correct syntax."""
    lines = [f"- `{_code(act.command)}`: {_plain(act.words)}" for act in wrong]
    return "\n\n".join(["Not obeyed:\n\n" + "\n".join(lines), _HELP, marker(comment)])


def mistaken(found: Mistake) -> Act:
    """The record of a mistake in a comment."""
    return Act("", found.line, REFUSED, found.why)


def refused(found: Command, why: str) -> Act:
    """The record of a command that could not be executed."""
    return Act(found.verb, one_line(found.short, 80), REFUSED, one_line(why, 300))


def stop(obeyed: Obeyed) -> str:
    """For the agent that should stop."""
    return (
        f"P{who(obeyed.by.name, is_person=True)[1:]} told you on GitHub to stop working on "
        f"#{obeyed.issue}. Stop now: hand over what there is with `ghp agent-handoff --issue "
        f"{obeyed.issue}`, then give it back with `ghp agent-release {obeyed.issue}`."
    )


def assigned(issue: int) -> str:
    """For the agent that got an issue."""
    return (
        f"Issue #{issue} is assigned to you, by somebody who may decide that. `ghp agent-issue "
        f"show {issue}` shows it, `ghp agent-start {issue}` begins with it."
    )


def _code(text: str) -> str:
    return visible(text).replace("`", "'")


def _plain(text: str) -> str:
    """Our own words, which may quote somebody: mentions in them notify nobody."""
    return visible(text).replace("@", "@\u200b")
