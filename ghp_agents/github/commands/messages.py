"""Texts about commands: help for a wrong command, and news for the agent concerned."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ghp_agents.core.ids import one_line
from ghp_agents.hotpath.quoting import visible, who
from ghp_agents.issues.comment_commands import REFUSED, Act, Obeyed

if TYPE_CHECKING:
    from ghp_agents.github.commands.parse import Command, Mistake

PLAIN, UNKNOWN = "a comment", "a quotation of something else"  # what may be an answer
NO_ANSWERS = (PLAIN, UNKNOWN)
_HELP = """\
<details><summary>What people with write access can write</summary>

```
/agent assign NAME       give the issue to an agent
/agent stop              stop the work until /agent assign or /agent retry
/agent retry             back to the queue, and reset the number of attempts
/agent answer ID TEXT    answer a question: /agent answer E-3f9a Use SQLite
/agent status            update the comment with the issue's state
```

Each is a paragraph of its own. A reply that quotes a question answers it, also by e-mail. If only
one question is open, any other comment answers it.

</details>"""


def marker(issue: int) -> str:
    """The marker of an issue's help comment."""
    return f"<!-- ghp:help {issue} -->"


def help_with(wrong: Iterable[Act]) -> str:
    """What was wrong with a comment, and the correct syntax."""
    acts = [*wrong]
    lines = [f"- `{_code(act.command)}`: {_plain(act.words)}" for act in acts]
    is_hint = all(act.command in NO_ANSWERS for act in acts)
    heading = "Not taken as an answer:" if is_hint else "Not executed:"
    return "\n\n".join([heading, "\n".join(lines), _HELP])


def mistaken(mistake: "Mistake") -> Act:
    """The record of a mistake in a comment."""
    return Act("", mistake.line, REFUSED, mistake.why)


def refused(command: "Command", why: str) -> Act:
    """The record of a command that could not be executed."""
    return Act(command.verb, one_line(command.short, 80), REFUSED, one_line(why, 300))


def stop(obeyed: Obeyed) -> str:
    """For the agent that should stop."""
    return (
        f"P{who(obeyed.by.name, is_person=True)[1:]} told you on GitHub to stop working on "
        f"#{obeyed.issue}. Stop now: save your work with `ghp agent-handoff --issue "
        f"{obeyed.issue}`, then run `ghp agent-release {obeyed.issue}`."
    )


def assigned(issue: int, start: str) -> str:
    """For the agent that got an issue, which this command starts."""
    return (
        f"Somebody with write access assigned issue #{issue} to you. Show it with "
        f"`ghp agent-issue show {issue}`; start with `{start}`."
    )


def _code(text: str) -> str:
    return visible(text).replace("`", "'")


def _plain(text: str) -> str:
    """Our own words, which may quote somebody: mentions in them notify nobody."""
    return visible(text).replace("@", "@\u200b")
