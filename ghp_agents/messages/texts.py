"""The texts of a message, as their sender gives them: checked, tidied and bounded."""

import json
from collections.abc import Sequence

from ghp_agents.core import secret_scan
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import count, one_line
from ghp_agents.messages import topic_list
from ghp_agents.messages.topics.topic import is_topic

BODY_LIMIT = 65_536  # characters
ARTIFACT_LIMIT = 50
ARTIFACT_LENGTH = 500  # characters


def payload(to: Sequence[str], text: str, body: str) -> str:
    """The payload as JSON for the body; empty if there is none. Raises UsageError."""
    if text and body:
        raise UsageError("A payload is the body.", hint="Leave out --body and --body-file.")
    try:
        value = json.loads(text, parse_constant=_no_number) if text else None
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"The payload is not JSON: {error}.", hint="Quote it as one word."
        ) from None
    for name in (address[1:] for address in to if is_topic(address)):
        topic_list.checked_payload(name, value)
    return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def line(what: str, text: str, limit: int) -> str:
    """One line of at most `limit` characters. Raises UsageError."""
    tidy = one_line(text.encode("utf-8", "replace").decode("utf-8"), len(text) + 1)
    if not 0 < len(tidy) <= limit:
        raise UsageError(
            f"The {what} has {count(len(tidy), 'character')}; it needs 1 to {limit}.",
            hint="Put the details into the body: --body-file FILE, or `-` for standard input.",
        )
    secret_scan.refuse(what, tidy)
    return tidy


def body(text: str) -> str:
    """A body with plain line ends. Raises UsageError."""
    tidy = text.encode("utf-8", "replace").decode("utf-8")
    tidy = tidy.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    if len(tidy) > BODY_LIMIT:
        raise UsageError(
            f"The body has {len(tidy)} characters; the limit is {BODY_LIMIT}.",
            hint="Save it as a file in the repository, and name the file with --artifact.",
        )
    secret_scan.refuse("body", tidy)
    return tidy


def artifacts(texts: Sequence[str]) -> tuple[str, ...]:
    """The names of what belongs to a message. Raises UsageError."""
    if len(texts) > ARTIFACT_LIMIT:
        raise UsageError(
            f"A message has at most {ARTIFACT_LIMIT} artifacts; these are {len(texts)}.",
            hint="Name the folder that has them, or the commit.",
        )
    return tuple(line("artifact", text, ARTIFACT_LENGTH) for text in texts)
