"""The only module that imports tree-sitter: source text becomes facts.

A grammar is C code that reads hostile input: call this in a process of its own
(`syntax/child.py`).
"""

import hashlib
import re
from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from ghp_agents.conflicts.syntax import import_text
from ghp_agents.conflicts.syntax.facts import (
    BIND,
    IMPORT,
    MEMBER,
    USE,
    Definition,
    Import,
    Place,
    SyntaxFacts,
)
from ghp_agents.conflicts.syntax.languages import LANGUAGES, Language

MOST_DEFINITIONS = 5_000  # of one file
MOST_PLACES = 2_000
DEEPEST = 150  # nodes above a name; looking up costs the square of it
_QUALIFIER = re.compile(r"[\w$]+(?:(?:\.|::)[\w$]+){0,9}")
_SELVES = {"self": "self", "this": "self", "cls": "self", "Self": "self"}
Node = Any  # tree_sitter.Node
_Top = tuple[int, int] | None  # the bytes of a function


@cache
def _parts(name: str) -> tuple[Any, Any, Any, Any]:
    """A parser, and the queries for definitions, imports and identifiers."""
    import tree_sitter

    how = LANGUAGES[name]
    language = tree_sitter.Language(getattr(import_module(how.package), how.function)())

    def query(kinds: Collection[str]) -> Any:
        in_grammar = [kind for kind in kinds if language.id_for_node_kind(kind, True) is not None]
        return tree_sitter.Query(
            language, "[" + " ".join(f"({kind})" for kind in in_grammar) + "] @x"
        )

    queries = [query(kinds) if kinds else None for kinds in
               (how.definitions, how.imports, how.identifiers)]  # fmt: skip
    return tree_sitter.Parser(language), *queries


def read_facts(language: str, source: bytes, names: Collection[str]) -> SyntaxFacts:
    """The definitions and imports of a file, and the places of `names`."""
    parser, definitions, imports, identifiers = _parts(language)
    root = parser.parse(source).root_node
    how = LANGUAGES[language]
    defined = [
        definition for node in _nodes(definitions, root) for definition in _defined(how, node)
    ]
    wanted = {name.encode() for name in names}
    all_nodes = _nodes(identifiers, root)
    nodes = [node for node in all_nodes if node.text in wanted]
    return SyntaxFacts(
        tuple(defined[:MOST_DEFINITIONS]),
        tuple(_imports(language, imports, root)),
        tuple(_places(how, nodes, all_nodes)),
        frozenset(_text(node) for node in nodes),
        root.has_error,
    )


def _nodes(query: Any, root: Node) -> list[Node]:
    import tree_sitter

    if query is None:
        return []
    captured: list[Node] = tree_sitter.QueryCursor(query).captures(root).get("x", [])
    return sorted(captured, key=lambda node: (node.start_byte, -node.end_byte))


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


# ---------------------------------------------------------------- definitions


def _defined(how: Language, node: Node) -> Iterator[Definition]:
    kind = how.definitions[node.type]
    above = _above(node)
    if above is None or any(parent.type in how.functions for parent in above):
        return
    if how.name == "c" and node.type.endswith("_specifier") and not _field(node, "body"):
        return  # only mentioned
    for name_node in _names(how, node):
        name = _text(name_node)
        owner = _owner(how, above) or _receiver(node)
        kind = "method" if owner and kind == "function" else kind
        yield Definition(
            name, owner, kind, node.start_point[0] + 1, node.end_point[0] + 1,
            _digest(node, name), _is_open(node), _is_private(node),
        )  # fmt: skip


def _names(how: Language, node: Node) -> list[Node]:
    nodes = node.children_by_field_name(how.name_fields.get(node.type, "name"))
    for _ in range(9):  # `*f(…)` in C: the name is in a declarator of a declarator
        inner = [_field(parent, "declarator") for parent in nodes]
        if not any(inner):
            break
        nodes = [deeper or outer for deeper, outer in zip(inner, nodes, strict=True)]
    kinds = ("property_identifier", *how.identifiers)
    return [parent for parent in nodes if parent.type in kinds]


def _above(node: Node) -> list[Node] | None:
    """The nodes around a node, from the inside; None if there are too many."""
    ancestors: list[Node] = []
    while (node := node.parent) is not None:
        if len(ancestors) == DEEPEST:
            return None
        ancestors.append(node)
    return ancestors


def _owner(how: Language, above: list[Node]) -> str:
    names = [_field(node, how.classes[node.type]) for node in above if node.type in how.classes]
    return ".".join(_text(name).partition("<")[0] for name in reversed(names) if name is not None)


def _receiver(node: Node) -> str:
    receiver = _field(node, "receiver") if node.type == "method_declaration" else None
    matched = re.search(r"([\w]+)\s*(?:\[[^\]]*\])?\s*\)$", _text(receiver)) if receiver else None
    return matched[1] if matched else ""


def _field(node: Node, name: str) -> Node | None:
    return node.child_by_field_name(name)


def _digest(node: Node, name: str) -> str:
    body = re.sub(rf"(?<![\w$]){re.escape(name)}(?![\w$])", "\0", _text(node))
    return hashlib.sha256(" ".join(body.split()).encode()).hexdigest()[:16]


def _is_open(node: Node) -> bool:
    """Whether a class inherits, so that its members may come from elsewhere."""
    bases = _field(node, "superclasses")
    if bases is not None:
        return _text(bases).replace(" ", "") not in ("()", "(object)")
    inherits = ("class_heritage", "superclass", "super_interfaces", "extends_interfaces")
    return any(child.type in inherits for child in node.named_children[:9])


def _is_private(node: Node) -> bool:
    marks = [child for child in node.children[:4] if child.type == "storage_class_specifier"]
    return any(_text(mark) == "static" for mark in marks)


# ---------------------------------------------------------------- imports and places


def _imports(language: str, query: Any, root: Node) -> Iterator[Import]:
    for node in _nodes(query, root)[:MOST_PLACES]:
        yield from import_text.read(language, _text(node))
    if language in ("javascript", "typescript", "tsx"):
        yield from import_text.required(_text(root))


def _places(how: Language, nodes: list[Node], all_nodes: list[Node]) -> list[Place]:
    placed = [pair for node in nodes[:MOST_PLACES] if (pair := _place(how, node))]
    heads = {_head(place.qualifier).encode() for place, _ in placed if place.role == MEMBER}
    others = [node for node in all_nodes if node.text in heads][:MOST_PLACES]
    more = [pair for node in others if (pair := _place(how, node))]
    bound = {(place.name, top) for place, top in (*placed, *more) if place.role == BIND and top}
    return [
        place._replace(
            is_local=place.qualifier != "self"
            and (_head(place.qualifier) or place.name, top) in bound
        )
        for place, top in placed
    ]


def _head(qualifier: str) -> str:
    return "" if qualifier == "self" else re.split(r"\.|::", qualifier)[0]


def _place(how: Language, node: Node) -> tuple[Place, _Top] | None:
    """One occurrence, and the outermost function around it."""
    above = _above(node)
    if not above or any(parent.type == "ERROR" for parent in above):
        return None
    field = _field_of(node, above[0])
    at = f"{above[0].type}.{field}"
    while above[0].type in how.wrappers and len(above) > 1 and at not in how.members:
        field, above = _field_of(above[0], above[1]), above[1:]
        at = f"{above[0].type}.{field}"
    role, qualifier = _role(how, node, above, at)
    if not role:
        return None
    around = [parent for parent in above if parent.type in how.functions]
    if around and around[0] == above[0] and field == "name":
        around = around[1:]  # a function's own name is bound outside of it
    top = (around[-1].start_byte, around[-1].end_byte) if around else None
    line = node.start_point[0] + 1
    return Place(_text(node), role, line, qualifier, _owner(how, above)), top


def _field_of(node: Node, parent: Node) -> str:
    for number, child in enumerate(parent.children[:500]):
        if child == node:
            return parent.field_name_for_child(number) or ""
    return ""


def _role(how: Language, node: Node, above: list[Node], at: str) -> tuple[str, str]:
    parent = above[0]
    if any(ancestor.type in how.imports or _is_required(ancestor) for ancestor in above):
        return IMPORT, ""
    if at in how.skipped or f"{parent.type}.*" in how.skipped or node.is_missing:
        return "", ""
    if at in how.members:
        return _member(how, parent, at)
    if at in how.binds or f"{parent.type}.*" in how.binds or node.type.endswith("_pattern"):
        return BIND, ""
    if node.type in ("property_identifier", "field_identifier", "private_property_identifier"):
        return "", ""
    if (
        parent.type == "token_tree"
        and node.prev_sibling
        and _text(node.prev_sibling) in (".", "::")
    ):
        return "", ""
    return USE, ""


def _is_required(node: Node) -> bool:
    value = _field(node, "value") if node.type == "variable_declarator" else None
    return value is not None and (value.text or b"").startswith(b"require(")


def _member(how: Language, parent: Node, at: str) -> tuple[str, str]:
    thing = _field(parent, how.members[at])
    if thing is None:
        return USE, ""  # a call without an object
    text = _text(thing) if thing.end_byte - thing.start_byte < 200 else "?"
    text = _SELVES.get(text, text)
    return MEMBER, text if _QUALIFIER.fullmatch(text) else "?"
