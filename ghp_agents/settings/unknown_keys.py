"""Keys of a configuration file that this version does not know, and the ones that were meant."""

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from ghp_agents.settings import schema
from ghp_agents.settings.key_lines import key_lines


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """An unknown key, and perhaps the one that was meant."""

    line: int
    key: str
    meant: str | None


def unknown_keys(text: str) -> list[UnknownKey]:
    """Unknown keys of one file that look like ours; none if it cannot be read."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(whole, dict):
        return []
    ours = whole.get("agents")
    ours = ours if isinstance(ours, dict) else {}
    known_keys, where = schema.known_keys(), key_lines(text)
    unknown = [
        UnknownKey(where[("agents", key)], f"agents.{key}", _meant(key, known_keys))
        for key in ours
        if key not in known_keys and not key.startswith("_")  # upstream's convention for comments
    ]
    server = ours.get("github")
    unknown += [
        UnknownKey(where[("agents", "github", key)], f"agents.github.{key}", None)
        for key in (server if isinstance(server, dict) else ())
        if key not in schema.GITHUB
    ]
    # Upstream defines the top level, and has none of these names.
    unknown += [
        UnknownKey(where[(key,)], key, f"agents.{key}") for key in whole if key in known_keys
    ]
    return sorted(unknown, key=lambda unknown: unknown.line)


def _meant(key: str, known_keys: Sequence[str]) -> str | None:
    by_word = {word.lower(): word for word in known_keys}
    plain = key.replace("_", "").replace("-", "").lower()
    close = difflib.get_close_matches(plain, by_word, n=1)
    return f"agents.{by_word[close[0]]}" if close else None
