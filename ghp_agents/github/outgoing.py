"""The texts of a write as GitHub gets them: what agents write, or quote, starts no other agent."""

from collections.abc import Mapping
from typing import Any

from ghp_agents.core import mentions, person
from ghp_agents.github import marker as github_marker
from ghp_agents.workspace import Workspace

TEXTS = ("title", "body", "commit_title", "commit_message")
ISSUES = "issues"  # the paths of what people write themselves; pull requests are generated
LONGEST = 65_536  # characters that GitHub takes
WIDE = "\uff20"  # an @ that mentions nobody, where a text has no room for more


def checked(ws: Workspace, path: str, fields: Any) -> Any:
    """The fields of a write with harmless texts. What a person's own command writes may mention
    whom they like; what it quotes may not."""
    if not isinstance(fields, Mapping) or not any(name in fields for name in TEXTS):
        return fields
    names = ws.settings.mentionable
    is_own = path.startswith(ISSUES) and _is_persons(ws, fields)
    change = mentions.in_quotations if is_own else mentions.harmless
    texts = {name: fields[name] for name in TEXTS if isinstance(fields.get(name), str)}
    return {**fields, **{name: _fitting(text, change(text, names)) for name, text in texts.items()}}


def _is_persons(ws: Workspace, fields: Mapping[str, Any]) -> bool:
    """Whether the person who runs this command wrote the text: its hidden line says so."""
    if person.agent_here(ws.environ) is not None or not ws.actor().is_person:
        return False
    if "body" not in fields:
        return True
    mark = github_marker.split_marker(str(fields["body"]))[1]
    return mark is not None and mark.is_person and mark.actor == ws.actor()


def _fitting(before: str, after: str) -> str:
    fits = len(after) <= LONGEST or len(after) == len(before)
    return after if fits else after.replace(f"@{mentions.BREAK}", WIDE)
