"""Names that are one name on some file systems."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.file_names import case_twins, folded, parents

PATHS = st.lists(st.text("aAbB/éÉ", min_size=1, max_size=4), max_size=5)


def test_the_topmost_names_that_differ_are_told() -> None:
    assert [*case_twins(["Src/a.py", "Src/b.py", "c"], ["src/a.py", "d"])] == [("Src", "src")]
    assert [*case_twins(["src/A.py"], ["src/a.py"])] == [("src/A.py", "src/a.py")]
    assert [*case_twins(["README", "readme"])] == [("readme", "README")]
    assert [*case_twins(["README", "readme"], own=False)] == []
    composed = "caf\u00e9"
    assert [*case_twins([unicodedata.normalize("NFD", composed)], [composed])] != []


@given(PATHS, PATHS.filter(lambda others: not [*case_twins(others)]))
def test_twins_are_told_exactly_if_there_are_some(new: list[str], others: list[str]) -> None:
    twins = [*case_twins(new, others)]
    assert all(folded(name) == folded(other) and name != other for name, other in twins)
    names = {name for path in [*new, *others] for name in (*parents(path), path)}
    mine = {name for path in new for name in (*parents(path), path)}
    exist = any(folded(x) == folded(y) and x != y for x in mine for y in names)
    assert bool(twins) == exist
