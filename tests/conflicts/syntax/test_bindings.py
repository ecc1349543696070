"""The rule as a function of values: what is lost, and what is bound to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.conflicts.syntax.bindings import Lost, Version, lost, uses
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
)

HELPER = Definition("helper", "", "function", 3, 5, "body")
NAMES = frozenset({"helper"})


def changed(path: str, before: SyntaxFacts, after: SyntaxFacts, **words: object) -> Version:
    change = Change(path, path, "1", "2", ((1, 99),))
    return Version(change, before, after)._replace(**words)  # type: ignore[arg-type]


def test_the_successor_is_the_only_new_definition_with_the_same_body() -> None:
    new = HELPER._replace(name="assist", line=4)
    mine = [changed("a.py", SyntaxFacts((HELPER,)), SyntaxFacts((new,)))]
    assert lost(mine, NAMES) == [Lost("a.py", HELPER, "assist", "a.py")]
    both = SyntaxFacts((new, new._replace(name="aid")))
    assert lost([changed("a.py", SyntaxFacts((HELPER,)), both)], NAMES) == [Lost("a.py", HELPER)]


def test_a_name_that_the_file_still_imports_or_uses_is_not_lost() -> None:
    place = Place("helper", USE, 7)
    for after in (
        SyntaxFacts(imports=(Import("b", "helper", "helper"),)),
        SyntaxFacts(places=(place,)),
        SyntaxFacts(imports=(Import("b", "*", ""),)),
        SyntaxFacts((Definition("__getattr__", "", "function", 1, 2, ""),)),
    ):
        assert lost([changed("a.py", SyntaxFacts((HELPER,)), after)], NAMES) == []


def test_a_local_name_or_a_member_does_not_keep_the_definition() -> None:
    places = (Place("helper", USE, 7, is_local=True), Place("helper", MEMBER, 8, "x"))
    after = SyntaxFacts(places=places, words=NAMES)
    assert lost([changed("a.py", SyntaxFacts((HELPER,)), after)], NAMES) == [Lost("a.py", HELPER)]


def test_what_cannot_be_parsed_is_not_lost() -> None:
    one = changed("a.py", SyntaxFacts((HELPER,)), SyntaxFacts())
    assert lost([one._replace(is_known=False)], NAMES) == []
    other = changed("b.py", SyntaxFacts(), SyntaxFacts(), is_known=False)
    assert lost([one, other], NAMES) == []


def test_a_name_that_another_import_binds_too_is_not_bound() -> None:
    gone = Lost("a.py", HELPER)
    helper = Import("a", "helper", "helper")
    used = Place("helper", USE, 4)
    for imports, expected in (
        ((helper,), {"b.py": [4]}),
        ((helper, Import("c", "helper", "helper")), {}),
        ((Import("a", "helper", "other"),), {}),
        ((Import("a", "other", "helper"),), {}),
        ((), {}),
    ):
        theirs = changed("b.py", SyntaxFacts(), SyntaxFacts(imports=imports, places=(used,)))
        assert uses(gone, [theirs], {}) == expected


def test_a_file_in_which_the_remover_kept_the_name_is_left_out() -> None:
    after = SyntaxFacts(
        imports=(Import("a", "helper", "helper"),), places=(Place("helper", USE, 4),)
    )
    theirs = changed("b.py", SyntaxFacts(), after)
    kept = changed("b.py", SyntaxFacts(), SyntaxFacts(places=(Place("helper", IMPORT, 1),)))
    assert uses(Lost("a.py", HELPER), [theirs], {"b.py": kept}) == {}
    gone = changed("b.py", SyntaxFacts(), SyntaxFacts())
    assert uses(Lost("a.py", HELPER), [theirs], {"b.py": gone}) == {"b.py": [4]}


PLACES = st.builds(
    Place,
    st.sampled_from(["helper", "other"]),
    st.sampled_from([IMPORT, USE, MEMBER, BIND]),
    st.integers(1, 120),
    st.sampled_from(["", "a", "self", "?", "crate::a"]),
    st.sampled_from(["", "Shelf"]),
    st.booleans(),
)
IMPORTS = st.builds(
    Import,
    st.sampled_from(["a", "./a", ".", "crate::a", "b"]),
    st.sampled_from(["", "helper", "a", "*"]),
    st.sampled_from(["helper", "a", ""]),
)
PATHS = st.sampled_from(["a.py", "b.py", "src/a.ts", "src/b.js", "a.go", "src/a.rs", "a.c", "x"])
FACTS = st.builds(
    SyntaxFacts,
    st.lists(
        st.builds(Definition, st.sampled_from(["helper", "aid"]), st.sampled_from(["", "Shelf"]),
                  st.just("function"), st.integers(1, 120), st.just(9), st.just("body")),
        max_size=3,
    ).map(tuple),
    st.lists(IMPORTS, max_size=3).map(tuple),
    st.lists(PLACES, max_size=5).map(tuple),
)  # fmt: skip
VERSIONS = st.lists(st.builds(changed, PATHS, FACTS, FACTS), max_size=3)


@pytest.mark.slow
@given(VERSIONS, VERSIONS)
def test_only_added_lines_that_have_the_name_are_told(
    mine: list[Version], theirs: list[Version]
) -> None:
    by_path = {version.change.old: version for version in mine}
    for gone in lost(mine, NAMES):
        assert gone.definition.name == "helper"
        for path, lines in uses(gone, theirs, by_path).items():
            places = [
                place for one in theirs if one.change.new == path for place in one.after.places
            ]
            reported = [place for place in places if place.name == "helper" and place.line in lines]
            assert lines == sorted({place.line for place in reported if place.line <= 99})
            assert all(
                any(not place.is_local for place in reported if place.line == n) for n in lines
            )


@pytest.mark.slow
@given(VERSIONS)
def test_without_imports_nothing_of_another_python_file_is_bound(theirs: list[Version]) -> None:
    bare = [one._replace(after=one.after._replace(imports=())) for one in theirs]
    assert uses(Lost("elsewhere.py", HELPER), bare, {}) == {}
