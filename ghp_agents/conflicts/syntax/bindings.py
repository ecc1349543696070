"""The rule: when is a name in one agent's new line the definition that another one removed?

Only if the name is bound to it: by an import of that module, in the same file, or by a qualified
call. A name that merely reads the same never counts.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ghp_agents.conflicts.syntax.changed_text import Change
from ghp_agents.conflicts.syntax.facts import (
    BIND,
    IMPORT,
    MEMBER,
    USE,
    Definition,
    Import,
    Place,
    SyntaxFacts,
    words,
)
from ghp_agents.conflicts.syntax.languages import family
from ghp_agents.conflicts.syntax.modules import module_in, module_of, names_module

_BY_LINKER = ("c", "ruby")
_WITH_MEMBERS = ("python", "javascript", "java", "rust")
_DYNAMIC = "__getattr__"


class Version(NamedTuple):
    """A file after a change: its facts, and its text where the facts may be wrong."""

    change: Change
    before: SyntaxFacts
    after: SyntaxFacts
    text: str = ""
    is_known: bool = True  # no: it is too large, or the parser failed

    def has(self, name: str, owner: str = "") -> bool:
        """Whether the file may still bind or use the name outside of functions. For members
        of classes, and in JavaScript: whether the name occurs at all."""
        if not self.is_known or (self.after.has_error and name in words(self.text)):
            return True
        if owner or family(self.change.path) == "javascript":
            return name in self.after.words
        return any(_reaches(place, name) for place in self.after.places)


def _reaches(place: Place, name: str) -> bool:
    if place.name != name or place.is_local or place.role == MEMBER:
        return False
    return place.role != BIND or not place.owner


class Lost(NamedTuple):
    """A definition that a change removed, and the one that took its place, if that is evident."""

    path: str
    definition: Definition
    new_name: str = ""
    new_path: str = ""


def lost(versions: Sequence[Version], names: frozenset[str]) -> list[Lost]:
    """The definitions among `names` that a change removed or renamed."""
    gone = []
    for version in versions:
        for definition in version.before.definitions:
            if definition.name in names and _is_lost(definition, version, versions):
                gone.append(_with_successor(definition, version, versions))
    return gone


def _is_lost(definition: Definition, version: Version, versions: Sequence[Version]) -> bool:
    path = version.change.old
    here = version if version.change.new == path else None
    if here and (
        here.has(definition.name, definition.owner) or _is_dynamic(here.after, definition)
    ):
        return False
    # Files that share the module; everywhere for a member, for it may have moved to a base class.
    for other in versions:
        if family(other.change.new) != family(path):
            continue
        shares = module_of(other.change.new) == module_of(path)
        if not other.is_known:
            return False
        if (shares or definition.owner) and _offers(
            other.after, definition.name, is_member=bool(definition.owner)
        ):
            return False
    return not definition.owner or _is_closed(definition.owner, version)


def _offers(facts: SyntaxFacts, name: str, *, is_member: bool) -> bool:
    if any(definition.name == name for definition in facts.definitions):
        return True
    return not is_member and any(binding.alias == name for binding in facts.imports)


def _is_dynamic(facts: SyntaxFacts, definition: Definition) -> bool:
    if any(binding.name == "*" for binding in facts.imports):
        return True
    return any(
        attribute.name == _DYNAMIC and attribute.owner in ("", definition.owner)
        for attribute in facts.definitions
    )


def _is_closed(owner: str, version: Version) -> bool:
    """Whether a class is in both versions and inherits nothing: what it lost, it does not have."""
    if family(version.change.old) == "rust":
        return version.change.old == version.change.new
    for facts in (version.before, version.after):
        classes = [
            definition
            for definition in facts.definitions
            if ".".join(filter(None, (definition.owner, definition.name))) == owner
        ]
        if len(classes) != 1 or classes[0].is_open:
            return False
    return version.change.old == version.change.new


def _with_successor(definition: Definition, version: Version, versions: Sequence[Version]) -> Lost:
    successors = [
        (new, other.change.new)
        for other in versions
        for new in other.after.definitions
        if (new.kind, new.digest) == (definition.kind, definition.digest) and _is_new(new, other)
    ]
    path = version.change.old
    near = [pair for pair in successors if pair[1] == path] or successors
    if len(near) != 1:
        return Lost(path, definition)
    new, place = near[0]
    return Lost(path, definition, new.name, place)


def _is_new(definition: Definition, version: Version) -> bool:
    if version.change.old != version.change.new:
        return True
    return all(
        (definition.name, definition.owner) != (old.name, old.owner)
        for old in version.before.definitions
    )


# ---------------------------------------------------------------- uses


def uses(
    gone: Lost, versions: Sequence[Version], theirs: Mapping[str, Version], go_module: str = ""
) -> dict[str, list[int]]:
    """The added lines that use what is gone, by path. `theirs` has the other change's files."""
    if _defines_again(gone, versions):
        return {}
    by_path = {}
    for version in versions:
        change = version.change
        if not change.new or family(change.new) != family(gone.path):
            continue
        if (other := theirs.get(change.old)) and other.has(
            gone.definition.name, gone.definition.owner
        ):
            continue  # the other change has this file, and the name is still defined there
        lines = {
            place.line
            for place in version.after.places
            if place.name == gone.definition.name
            and change.adds(place.line)
            and _is_bound(place, gone, version, theirs, go_module)
        }
        if lines:
            by_path[change.new] = sorted(lines)
    return by_path


def _defines_again(gone: Lost, versions: Sequence[Version]) -> bool:
    return any(
        definition.name == gone.definition.name
        and not definition.is_private
        and version.change.adds(definition.line)
        for version in versions
        if version.change.new and module_of(version.change.new) == module_of(gone.path)
        for definition in version.after.definitions
    )


def _is_bound(
    place: Place, gone: Lost, version: Version, theirs: Mapping[str, Version], go_module: str
) -> bool:
    if place.role == BIND or place.is_local:
        return False
    importer = _Importer(version.change.new, version.after.imports, go_module)
    is_same = version.change.old == gone.path
    if is_same and (other := theirs.get(gone.path)) and not other.change.new:
        return False  # the file itself is gone: git reports that
    if gone.definition.owner and family(gone.path) in _WITH_MEMBERS:
        return _is_bound_member(place, gone, importer, is_same)
    if not is_same and _shadows(version.after, place.name) and family(gone.path) != "go":
        return False
    return _is_bound_name(place, gone, importer, is_same)


def _shadows(facts: SyntaxFacts, name: str) -> bool:
    """Whether the file binds the name itself, outside of functions."""
    if any(definition.name == name and not definition.owner for definition in facts.definitions):
        return True
    return any(place.role == BIND and _reaches(place, name) for place in facts.places)


class _Importer(NamedTuple):
    """A file that imports."""

    path: str
    imports: tuple[Import, ...]
    go_module: str

    def bound_to(self, alias: str) -> list[Import]:
        """The imports that bind a name."""
        return [binding for binding in self.imports if binding.alias == alias]

    def imports_name(self, name: str, module: str) -> bool:
        """Whether `name` is imported under that name, and from that module alone."""
        bound = self.bound_to(name)
        return bool(bound) and all(self._is_from(binding, name, module) for binding in bound)

    def takes(self, name: str, module: str) -> bool:
        """Whether `name` is imported from that module, under any name."""
        return any(self._is_from(binding, name, module) for binding in self.imports)

    def _is_from(self, binding: Import, name: str, module: str) -> bool:
        return binding.name == name and self._is(binding.module, module)

    def is_module(self, qualifier: str, module: str) -> bool:
        """Whether `qualifier` is that module; in Rust also without an import."""
        bound = self.bound_to(qualifier)
        if not bound:
            return family(self.path) == "rust" and self._is(qualifier, module)
        return all(self._is(module_in(binding, self.path), module) for binding in bound)

    def _is(self, spelled: str, module: str) -> bool:
        return names_module(spelled, self.path, module, self.go_module)


def _is_bound_name(place: Place, gone: Lost, importer: _Importer, is_same: bool) -> bool:
    language, module = family(gone.path), module_of(gone.path)
    name, owner = gone.definition.name, gone.definition.owner
    if language in _BY_LINKER:
        return _is_bound_globally(place, gone, is_same)
    if owner:
        return False
    if place.role == IMPORT:
        return importer.takes(name, module)
    if place.role == MEMBER:
        return importer.is_module(place.qualifier, module)
    if is_same or (language in ("go", "java") and module_of(importer.path) == module):
        return not importer.bound_to(name)
    return importer.imports_name(name, module)


def _is_bound_globally(place: Place, gone: Lost, is_same: bool) -> bool:
    definition = gone.definition
    if family(gone.path) == "c":
        is_visible = is_same or not definition.is_private or gone.path.endswith(".h")
        return place.role == USE and is_visible
    if place.role == MEMBER:
        last = place.qualifier.rpartition("::")[2]
        return bool(definition.owner) and last == definition.owner.rpartition(".")[2]
    first = definition.owner.partition(".")[0]
    return place.role == USE and place.owner.partition(".")[0] == first if first else True


def _is_bound_member(place: Place, gone: Lost, importer: _Importer, is_same: bool) -> bool:
    owner, module = gone.definition.owner, module_of(gone.path)
    if place.role == MEMBER and place.qualifier == "self":
        return is_same and place.owner == owner
    if place.role == MEMBER and place.qualifier == owner:
        near = is_same or (family(gone.path) == "java" and module_of(importer.path) == module)
        by_import = importer.imports_name(owner, module)
        return by_import or (near and not importer.bound_to(owner))
    is_java_call = place.role == USE and family(gone.path) == "java"
    return is_java_call and is_same and place.owner == owner
