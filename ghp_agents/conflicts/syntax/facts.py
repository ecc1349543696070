"""What a parser finds in one version of a file: definitions, imports and the places of some names.

Lines count from 1. These values cross a pipe as JSON.
"""

import re
from typing import Any, NamedTuple

IMPORT, USE, MEMBER, BIND = "import", "use", "member", "bind"
_WORD = r"[^\W\d][\w$]*"


class Definition(NamedTuple):
    """A function, class, method, type or constant that is visible outside of functions."""

    name: str
    owner: str  # the class that it belongs to, or empty
    kind: str
    line: int
    last: int
    digest: str  # of its text without its own name: two definitions with one digest differ in name
    is_open: bool = False  # a class that inherits: its members may come from elsewhere
    is_private: bool = False  # visible in its file alone


class Import(NamedTuple):
    """One imported name: `from module import name as alias`. The name is empty if the whole module
    is imported, and `*` if everything in it is."""

    module: str
    name: str
    alias: str


class Place(NamedTuple):
    """One occurrence of a name."""

    name: str
    role: str  # import, use, member (of `qualifier`), or bind
    line: int
    qualifier: str = ""  # `a.b` of `a.b.name`; `?` for anything but names
    owner: str = ""  # the class around it
    is_local: bool = False  # inside a function that binds the name itself


class SyntaxFacts(NamedTuple):
    """What is known about one version of a file."""

    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()
    places: tuple[Place, ...] = ()
    words: frozenset[str] = frozenset()  # those of the wanted names that occur in its code
    has_error: bool = False  # it is not valid: what was found may be wrong


def to_json(facts: SyntaxFacts) -> list[Any]:
    """The facts as JSON can hold them."""
    return [*facts[:3], sorted(facts.words), facts.has_error]


def from_json(content: Any) -> SyntaxFacts:
    """The inverse of `to_json`. Raises ValueError or TypeError."""
    definitions, imports, places, words, has_error = content
    return SyntaxFacts(
        tuple(Definition(*definition) for definition in definitions),
        tuple(Import(*fields) for fields in imports),
        tuple(Place(*place) for place in places),
        frozenset(words),
        bool(has_error),
    )


def words(text: str) -> frozenset[str]:
    """The identifiers in a text."""
    return frozenset(re.findall(_WORD, text))
