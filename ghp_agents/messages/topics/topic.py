"""Topics: names that messages are sent to, and patterns by which agents listen to them."""

import re

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import one_line

ONE, REST = "*", ">"  # in a pattern: one word, and the rest of the name
RESERVED = ("all", "orchestrator")  # groups of their own
LONGEST = 100  # characters of a name
_WORD = re.compile(r"[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?")
EXAMPLE = "Use words of a-z, 0-9, '_' and '-', joined by '.': code.completed."


def checked_name(text: str) -> str:
    """The name of a topic. Raises UsageError."""
    if is_topic(f"@{text}"):
        return text
    raise UsageError(f"{one_line(text, 40)!r} is not the name of a topic.", hint=EXAMPLE)


def checked_pattern(text: str) -> str:
    """A pattern of topics: `code.*` is one word more, `code.>` all below. Raises UsageError."""
    words = text.split(".")
    plain = [word for word in words if word != ONE]
    if plain and plain[-1] == REST and words[-1] == REST:
        plain.pop()
    if len(text) <= LONGEST and all(_WORD.fullmatch(word) for word in plain):
        return text
    raise UsageError(
        f"{one_line(text, 40)!r} is not a pattern of topics.",
        hint="Use a name, `*` for one word, and `>` for the rest: code.completed, code.*, code.>",
    )


def matches(pattern: str, topic: str) -> bool:
    """Whether a pattern covers a topic. `>` covers at least one word."""
    wanted, words = pattern.split("."), topic.split(".")
    if wanted[-1] == REST:
        wanted.pop()
        return len(words) > len(wanted) and _fit(wanted, words[: len(wanted)])
    return len(words) == len(wanted) and _fit(wanted, words)


def _fit(wanted: list[str], words: list[str]) -> bool:
    return all(pattern in (ONE, word) for pattern, word in zip(wanted, words, strict=True))


def is_topic(address: str) -> bool:
    """Whether an address is that of a topic."""
    name = address[1:]
    return (
        address.startswith("@") and len(name) <= LONGEST and name not in RESERVED
        and all(_WORD.fullmatch(word) for word in name.split("."))
    )  # fmt: skip
