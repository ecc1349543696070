"""The hidden line at the end of what this program writes on GitHub: the record's id and author.
Above it, a footer says the same to people (`wording.py`).

Anybody who can write a body can write such a line. So it counts only at the very end of a text, and
only if the text's author has write permission, which the caller checks. In text that people post
through this program such lines are made visible, so that no text passes for a record.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.core.fields import is_oid
from ghp_agents.core.ids import Actor, digest, one_line
from ghp_agents.github import wording

BEGIN = "<!-- ghp-agents:"
END = " -->"
LONGEST = 1_000  # characters of a whole line; every body reserves room for it
NAME_LIMIT = 80

# The marker of the status comment, which is not part of the conversation.
STATE = "<!-- ghp-agents:state -->"

# Our line, and the footer above it.
_ANY = re.compile(r"<(?=!--\s*ghp-agents\s*:|sub>\s*A\s+program\s+\(ghp-agents\))", re.IGNORECASE)
_ID = re.compile(r"[0-9a-f]{8,64}")


class Mark(NamedTuple):
    """The content of such a line."""

    id: str
    by: str = ""
    is_person: bool = False
    once: str = ""  # identifies a comment to be posted once; see `once`
    head: str = ""  # of a pull request: the commit that `agent-finish` sent
    sender: Actor | None = None  # the sender, if not the author
    account: str = ""  # the person whose account wrote it, for the footer

    @property
    def actor(self) -> Actor:
        """The author named in the line."""
        return Actor(self.by, self.is_person)


def mark(identity: str, by: Actor, marker: str = "", account: str = "") -> Mark:
    """The mark of one of our records. A bot is not a person."""
    is_person = by.is_person and not by.name.endswith("[bot]")
    name = one_line(by.name, NAME_LIMIT)
    return Mark(identity, name, is_person, once(marker), account=one_line(account, 40))


def once(marker: str) -> str:
    """A marker as the line stores it: its digest."""
    return digest(marker) if marker else ""


def signed(text: str, mark: Mark) -> str:
    """A text with its footer and line; anything else that looks like them becomes plain text."""
    fields: dict[str, object] = {"id": mark.id, "by": mark.by}
    fields |= {"person": True} if mark.is_person else {}
    fields |= {"once": mark.once} if mark.once else {}
    fields |= {"head": mark.head} if mark.head else {}
    fields |= {"account": mark.account} if mark.account else {}
    if mark.sender and mark.sender != mark.actor:
        fields |= {"sender": mark.sender.name, "senderIsPerson": mark.sender.is_person}
    spelled = json.dumps(fields, separators=(",", ":"))
    hidden = spelled.replace("<", "\\u003c").replace(">", "\\u003e")  # else it could end the line
    end = f"{wording.footer(mark.actor, mark.account)}\n\n{BEGIN}{hidden}{END}"
    return f"{plain(text)}\n\n{end}" if text else end


def plain(text: str) -> str:
    """A text in which everything that looks like one of our lines or footers is visible to people
    as text."""
    return _ANY.sub("&lt;", text)


def split_marker(text: str) -> tuple[str, Mark | None]:
    """A text without the line and the footer at its end, and that line's mark; the unchanged text
    if it has none."""
    tail = text.rstrip()
    begin = tail.rfind(BEGIN, max(0, len(tail) - LONGEST))
    is_line = begin == 0 or tail[begin - 1 : begin] == "\n"  # not quoted, as by an e-mail
    if begin < 0 or not is_line or not tail.endswith(END):
        return text, None
    mark = _decoded(tail[begin + len(BEGIN) : -len(END)])
    if mark is None:
        return text, None
    return wording.without_footer(tail[:begin].rstrip("\n")).rstrip("\n"), mark


def id_of(raw: Mapping[str, Any]) -> str:
    """The id in the line of an issue or a comment, given as GitHub's JSON; empty if it has none."""
    _, mark = split_marker(str(raw.get("body") or ""))
    return mark.id if mark else ""


def _decoded(spelled: str) -> Mark | None:
    try:
        fields = json.loads(spelled)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    identity, by, once = (fields.get(key, "") for key in ("id", "by", "once"))
    if not (isinstance(identity, str) and isinstance(by, str) and isinstance(once, str)):
        return None
    if not _ID.fullmatch(identity):
        return None
    account = fields.get("account")
    mark = Mark(
        identity, one_line(by, NAME_LIMIT), fields.get("person") is True, once[:64],
        account=one_line(account, 40) if isinstance(account, str) else "",
    )  # fmt: skip
    head, sender = fields.get("head", ""), fields.get("sender")
    if not is_oid(head):
        return mark
    is_person = fields.get("senderIsPerson") is True
    named = isinstance(sender, str) and Actor(one_line(sender, NAME_LIMIT), is_person)
    return mark._replace(head=head, sender=named or None)
