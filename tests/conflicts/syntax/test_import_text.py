"""Import statements of each language, and any other text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.conflicts.syntax.facts import Import
from ghp_agents.conflicts.syntax.import_text import LONGEST, read, required


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "import a.b, c as d", [("a.b", "", "a.b"), ("c", "", "d")]),
        (
            "python",
            "from .a import (  # why\n    b as c,\n    d,\n)",
            [(".a", "b", "c"), (".a", "d", "d")],
        ),
        ("python", "from . import a", [(".", "a", "a")]),
        ("python", "from a import *", [("a", "*", "")]),
        ("python", "from __future__ import annotations", [("__future__", *["annotations"] * 2)]),
        (
            "typescript",
            "import D, {type A, b as c} from './x';",
            [("./x", "A", "A"), ("./x", "b", "c"), ("./x", "default", "D")],
        ),
        ("tsx", 'import * as ns from "../y"', [("../y", "", "ns")]),
        ("javascript", "import './effect.js';", []),
        ("go", 's "x.org/m/store"', [("x.org/m/store", "", "s")]),
        ("go", '"x.org/m/store"', [("x.org/m/store", "", "store")]),
        ("java", "import a.b.C;", [("a.b", "C", "C")]),
        ("java", "import static a.b.C.*;", [("a.b.C", "*", "")]),
        (
            "rust",
            "pub(crate) use crate::a::{self, b as c, d::{E, F}};",
            [
                ("crate", "a", "a"), ("crate::a", "b", "c"),
                ("crate::a::d", "E", "E"), ("crate::a::d", "F", "F"),
            ],
        ),
        ("rust", "use a::*;", [("a", "*", "")]),
    ],
)  # fmt: skip
def test_what_a_statement_imports(
    language: str, text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert read(language, text) == [Import(*fields) for fields in expected]


def test_required_names_are_imports_unless_only_a_part_is_taken() -> None:
    text = "const {a, b: c} = require('./x');\nlet d = require('y')\nvar e = require('z').e;\n"
    expected = [("./x", "a", "a"), ("./x", "b", "c"), ("y", "", "d")]
    assert list(required(text)) == [Import(*fields) for fields in expected]


def test_a_statement_that_nobody_writes_is_no_import() -> None:
    assert read("python", "import " + "a, " * LONGEST) == []


LANGUAGES = st.sampled_from(["python", "typescript", "go", "java", "rust", "c"])
TEXT = st.text(st.sampled_from(" \n(){},.*:;'\"/#abimportfromuse as"), max_size=80)


@pytest.mark.slow
@given(LANGUAGES, st.sampled_from(["", "import ", "from ", "use ", "const {"]), TEXT)
def test_any_text_is_read(language: str, start: str, text: str) -> None:
    for imported in (*read(language, start + text), *required(start + text)):
        assert all(isinstance(part, str) for part in imported)
