"""An agent's card: what it can do, where and with what it works, and what it may do.

People write cards: `.ghp/agents/NAME.md` with front matter, or an entry of `.ghp/machines.yaml`.
The names of fields follow the A2A protocol's AgentCard as far as it has them.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from ghp_agents.cards import manifest
from ghp_agents.cards.manifest import Permission
from ghp_agents.core.declared import HIDDEN, OPTIONAL, Name
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import agent_name, one_line

FOLDER, MACHINES = ".ghp/agents", ".ghp/machines.yaml"  # on main
KINDS = ("interactive", "background")
AUTONOMOUS = ("true", "ask")
DESCRIPTION_LIMIT = 300
MOST_SKILLS = 50
MOST_TOPICS = 50
LARGEST_LIMIT = 1_000_000.0
_SKILL = re.compile(r"[a-z0-9][a-z0-9_.+#-]{0,39}")  # as in `presence/capabilities.py`
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+\[\]-]{0,99}")  # an argument of the client
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}(:[0-9]{1,5})?")
_URL = re.compile(
    r"https?://[A-Za-z0-9][A-Za-z0-9.-]{0,252}(:[0-9]{1,5})?(/[A-Za-z0-9._/-]{0,200})?"
)
_TOPIC = re.compile(r"[A-Za-z0-9*>_-][A-Za-z0-9.*>_-]{0,62}")


class Skill(NamedTuple):
    """Something that an agent can do."""

    id: str
    description: str = ""


class AgentCard(NamedTuple):
    """What people wrote about an agent on the default branch."""

    name: Annotated[str, OPTIONAL]
    path: Annotated[str, OPTIONAL] = ""  # the file that says it
    description: Annotated[str, OPTIONAL] = ""
    kind: Annotated[str, OPTIONAL] = ""  # one of KINDS
    role: Annotated[str, OPTIONAL] = ""
    client: Annotated[str, OPTIONAL] = ""  # a runner of `agent-work`
    model: Annotated[str, OPTIONAL] = ""
    machine: Annotated[str, OPTIONAL] = ""  # the host that it works on
    url: Annotated[str, OPTIONAL] = ""  # of its model, if that is not the client's own
    skills: Annotated[tuple[Skill, ...], OPTIONAL] = ()
    subscriptions: Annotated[tuple[str, ...], OPTIONAL] = ()  # patterns of topics
    autonomous: Annotated[str, OPTIONAL] = ""  # one of AUTONOMOUS
    github: Annotated[bool, OPTIONAL] = False  # whether its runs get the person's GitHub token
    turns: Annotated[int, OPTIONAL] = 0  # limits of one run; 0: not said
    cost: Annotated[float, OPTIONAL] = 0.0  # US dollars
    minutes: Annotated[float, OPTIONAL] = 0.0
    broken: Annotated[str, Name("problem"), OPTIONAL] = ""  # why the rest does not count
    # None: the client's own defaults.
    permissions: Annotated[tuple[Permission, ...] | None, OPTIONAL] = None
    approved: Annotated[bool, HIDDEN] = False  # a person in this clone agreed to what it grants
    was_agreed: Annotated[bool, HIDDEN] = False  # a person agreed to an earlier text of its file

    @property
    def grants(self) -> bool:
        """Whether a person must agree: it gives more than an agent without a card has, or its file
        is not what a person agreed to."""
        gives = any(map(manifest.grants, self.permissions or ()))
        return self.was_agreed or self.github or bool(self.url) or gives


class CardError(ValueError):
    """A card that cannot be used: the field, and what is wrong with it."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"`{one_line(field, 40)}` {why}" if field else why)
        self.field = field


def is_card(path: str) -> bool:
    """Whether a file of main has cards."""
    return path == MACHINES or (path.startswith(f"{FOLDER}/") and path.endswith(".md"))


def parse(name: str, path: str, fields: Mapping[str, Any]) -> AgentCard:
    """A card from the fields of its file. Unknown ones are left out. Raises CardError."""
    try:
        name = agent_name(name)
    except UsageError:
        raise CardError("", f"{one_line(name, 40)!r} is not an agent's name") from None
    if str(fields.get("name", name)) != name:
        raise CardError("name", f"is not the name of the file, {name}")
    slip = next((key for key, meant in unknown(fields) if meant in STRICT), None)
    if slip is not None:  # who forbids something must not be misunderstood
        raise CardError(slip, f"is not known (did you mean `{dict(unknown(fields))[slip]}`?)")
    rights, channels = _permissions(fields)
    return AgentCard(
        name,
        path,
        description=_text(fields, "description"),
        kind=_one_of(fields, "kind", KINDS),
        role=_matching(fields, "role", _WORD, "one word"),
        client=_matching(fields, "client", _WORD, "a runner such as `claude`"),
        model=_matching(fields, "model", _MODEL, "the name of a model"),
        machine=_matching(fields, "machine", _WORD, "the name of a host") or _host(fields),
        url=_url(fields),
        skills=_skills(fields.get("capabilities")),
        subscriptions=(*_topics("subscriptions", fields.get("subscriptions")), *channels),
        permissions=rights,
        autonomous=_autonomous(fields),
        github=_boolean(fields, "github"),
        turns=int(_number(fields, "turns")),
        cost=_number(fields, "cost"),
        minutes=_number(fields, "minutes"),
    )


FIELDS = (
    "name", "description", "kind", "role", "client", "model", "machine", "host", "url",
    "capabilities", "subscriptions", "permissions", "autonomous", "github", "turns", "cost",
    "minutes",
)  # fmt: skip


STRICT = ("permissions", "autonomous", "turns", "cost", "minutes")  # they limit


def unknown(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The unknown fields, each with the one that was probably meant."""
    strange = [key for key in map(str, fields) if key not in FIELDS and not key.startswith("_")]
    return [(one_line(key, 40), _meant(key)) for key in strange]


def _meant(key: str) -> str:
    import difflib  # needed for mistakes only

    return next(iter(difflib.get_close_matches(key[:40].lower(), FIELDS, n=1)), "")


def encode(card: AgentCard) -> dict[str, Any]:
    """The card as plain values, without those that are not said."""
    default = AgentCard("")
    return {
        key: value
        for key, value in card._asdict().items()
        if value != getattr(default, key) and key != "name"
    }


def decode(name: str, fields: Mapping[str, Any]) -> AgentCard:
    """The reverse of `encode`."""
    known_fields = {key: value for key, value in fields.items() if key in AgentCard._fields}
    rights = known_fields.get("permissions")
    return AgentCard(name)._replace(
        **known_fields
        | {
            "skills": tuple(Skill(*skill) for skill in known_fields.get("skills", ())),
            "subscriptions": tuple(known_fields.get("subscriptions", ())),
            "permissions": None if rights is None else manifest.decode(rights),
        }
    )


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise CardError(key, "is not a text")
    return one_line(value, DESCRIPTION_LIMIT)


def _matching(fields: Mapping[str, Any], key: str, form: re.Pattern[str], what: str) -> str:
    value = _text(fields, key)
    if value and not form.fullmatch(value):
        raise CardError(key, f"is {one_line(value, 40)!r}, which is not {what}")
    return value


def _one_of(fields: Mapping[str, Any], key: str, words: tuple[str, ...]) -> str:
    value = _text(fields, key)
    if value and value not in words:
        raise CardError(key, f"is {one_line(value, 40)!r}, not {' or '.join(words)}")
    return value


def _boolean(fields: Mapping[str, Any], key: str) -> bool:
    value = fields.get(key, False)
    if not isinstance(value, bool):
        raise CardError(key, "is not true or false")
    return value


def _autonomous(fields: Mapping[str, Any]) -> str:
    value = fields.get("autonomous")
    if value is None or value is True:
        return "true" if value else ""
    return _one_of(fields, "autonomous", AUTONOMOUS)


def _number(fields: Mapping[str, Any], key: str) -> float:
    value = fields.get(key, 0)
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    if not fits or not 0 <= value <= LARGEST_LIMIT:
        raise CardError(key, f"is not a number from 0 to {LARGEST_LIMIT:,.0f}")
    return float(value)


def _host(fields: Mapping[str, Any]) -> str:
    return _matching(fields, "host", _HOST, "a host such as gtx:11434").partition(":")[0]


def _url(fields: Mapping[str, Any]) -> str:
    url = _matching(fields, "url", _URL, "an address such as http://gtx:11434/v1")
    host = _matching(fields, "host", _HOST, "a host such as gtx:11434")
    return url or (f"http://{host}/v1" if host else "")  # Ollama's address for OpenAI's clients


def _skills(value: object) -> tuple[Skill, ...]:
    """A list of words or of `name: description`, or an object of descriptions."""
    if value is None:
        return ()
    items = [value] if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise CardError("capabilities", "are not a list of words")
    pairs: list[tuple[object, object]] = []
    for item in items:
        pairs += list(item.items()) if isinstance(item, dict) else [(item, "")]
    if len(pairs) > MOST_SKILLS:
        raise CardError("capabilities", f"are more than {MOST_SKILLS}")
    skills: dict[str, Skill] = {}
    for key, text in pairs:
        word = key.casefold() if isinstance(key, str) else ""
        if not _SKILL.fullmatch(word):
            raise CardError(
                "capabilities", f"have {one_line(str(key), 40)!r}, which is not one word"
            )
        if not isinstance(text, str | None):
            raise CardError("capabilities", f"describe {word} by something that is not a text")
        skills[word] = Skill(word, one_line(text or "", DESCRIPTION_LIMIT))
    return tuple(skills.values())


def _topics(key: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MOST_TOPICS:
        raise CardError(key, f"are not a list of at most {MOST_TOPICS} topics")
    for topic in value:
        if not isinstance(topic, str) or not _TOPIC.fullmatch(topic):
            raise CardError(key, f"have {one_line(str(topic), 40)!r}, which is not a topic")
    return tuple(value)


def _permissions(
    fields: Mapping[str, Any],
) -> tuple[tuple[Permission, ...] | None, tuple[str, ...]]:
    """What it may do; or, as words, the channels that it joins."""
    value = fields.get("permissions")
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return None, _topics("permissions", value)
    if value is None:
        return None, ()
    try:
        return manifest.parse(value), ()
    except ValueError as error:
        raise CardError("permissions", str(error)) from None
