"""An import names a file only if that is certain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.conflicts.syntax.facts import Import
from ghp_agents.conflicts.syntax.modules import module_in, module_of, names_module


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("a/b.py", "a/b"),
        ("a/b/__init__.py", "a/b"),
        ("__init__.py", ""),
        ("src/a.d.ts", "src/a"),
        ("src/a/index.js", "src/a"),
        ("st/util.go", "st"),
        ("src/a/B.java", "src/a"),
        ("src/a/mod.rs", "src/a"),
        ("src/lib.rs", "src"),
        ("deep/util.c", ""),
        ("lib/util.rb", ""),
    ],
)
def test_files_of_one_module_share_its_name(path: str, module: str) -> None:
    assert module_of(path) == module


@pytest.mark.parametrize(
    ("spelled", "importer", "module", "is_named"),
    [
        ("a.b", "x.py", "a/b", True),
        ("a.b", "x.py", "src/a/b", True),
        ("b", "x.py", "a/b", False),
        ("b", "a/x.py", "a/b", True),
        ("logging", "a/x.py", "a/logging", False),
        (".b", "a/x.py", "a/b", True),
        ("..b", "a/c/x.py", "a/b", True),
        ("..b", "a/c/__init__.py", "a/b", True),
        ("....b", "a/x.py", "b", False),
        (".", "a/x.py", "a", True),
        ("./b", "a/x.ts", "a/b", True),
        ("../b.js", "a/x.ts", "b", True),
        ("./c/index", "a/x.ts", "a/c", True),
        ("b", "a/x.ts", "a/b", False),
        ("a.b", "src/z/X.java", "src/main/a/b", True),
        ("b", "src/z/X.java", "src/main/ab", False),
        ("x.org/m/st", "x.go", "st", True),
        ("x.org/m", "st/x.go", "", True),
        ("x.org/other/st", "x.go", "st", False),
        ("crate::a::b", "src/z.rs", "src/a/b", True),
        ("self::b", "src/a/mod.rs", "src/a/b", True),
        ("super::b", "src/a/c.rs", "src/a/b", True),
        ("serde::b", "src/a/c.rs", "src/serde/b", False),
        ("b", "x.c", "", False),
    ],
)
def test_a_module_is_named_by_what_is_certain(
    spelled: str, importer: str, module: str, is_named: bool
) -> None:
    assert names_module(spelled, importer, module, "x.org/m") is is_named


@pytest.mark.parametrize(
    ("imported", "importer", "module"),
    [
        (Import("a.b", "", "b"), "x.py", "a.b"),
        (Import("a", "b", "b"), "x.py", "a.b"),
        (Import(".", "b", "b"), "x.py", ".b"),
        (Import("crate::a", "b", "b"), "src/x.rs", "crate::a::b"),
    ],
)
def test_an_imported_name_may_be_a_module(imported: Import, importer: str, module: str) -> None:
    assert module_in(imported, importer) == module


PART = st.text(st.sampled_from("ab._/:-"), max_size=12)


@given(PART, PART, PART, st.sampled_from(["py", "ts", "go", "rs", "java", "c", "rb", "txt", ""]))
def test_any_names_have_an_answer(spelled: str, importer: str, module: str, suffix: str) -> None:
    assert names_module(spelled, f"{importer}.{suffix}", module, spelled) in (True, False)
    assert isinstance(module_of(f"{importer}.{suffix}"), str)
