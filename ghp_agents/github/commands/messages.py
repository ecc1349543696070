"""Commands in words: help for who wrote one wrongly, and news for the agent that they are about."""

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
    """What tells the comment that helps with another one from all others."""
    return f"<!-- ghp:command {comment} -->"


def help_with(comment: int, wrong: Iterable[Act]) -> str:
    """What was wrong with a comment, and how it is done."""
    lines = [f"- `{_code(act.command)}`: {_plain(act.words)}" for act in wrong]
    return "\n\n".join(["Not obeyed:\n\n" + "\n".join(lines), _HELP, marker(comment)])


def mistaken(found: Mistake) -> Act:
    """A mistake among what became of a comment."""
    return Act("", found.line, REFUSED, found.why)


def refused(found: Command, why: str) -> Act:
    """A command that could not be obeyed."""
    return Act(found.verb, one_line(found.short, 80), REFUSED, one_line(why, 300))


def stop(said: Obeyed) -> str:
    """For the agent that is to stop."""
    return (
        f"P{who(said.by.name, is_person=True)[1:]} told you on GitHub to stop working on "
        f"#{said.issue}. Stop now: hand over what there is with `ghp agent-handoff --issue "
        f"{said.issue}`, then give it back with `ghp agent-release {said.issue}`."
    )


def assigned(issue: int) -> str:
    """For the agent that an issue was assigned to."""
    return (
        f"Issue #{issue} is assigned to you, by somebody who may decide that. `ghp agent-issue "
        f"show {issue}` shows it, `ghp agent-start {issue}` begins with it."
    )


def _code(text: str) -> str:
    return visible(text).replace("`", "'")


def _plain(text: str) -> str:
    """Words of ours that may name what somebody wrote: nobody is called by them."""
    return visible(text).replace("@", "@\u200b")
