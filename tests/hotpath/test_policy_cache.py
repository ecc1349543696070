"""The rulebook as a file and as an index: what it finds is what the patterns say."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core import globs as pattern
from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import spelled_all
from ghp_agents.hotpath import policy_cache as rulebook
from tests.support.rulings import book, leased

NAMES = st.sampled_from(
    [
        "a",
        "b",
        "src",
        "x.py",
        "a.tar.gz",
        ".md",
        "é",
        "\udce9",
        "a\nb",
        "\n",
        "a b",
        "-",
        "SRC",
        "B",
    ]
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PARTS = st.sampled_from(
    [
        "a",
        "b",
        "src",
        "*",
        "**",
        "*.py",
        "*.gz",
        "*.tar.gz",
        "*.md",
        "?",
        "a*",
        "[ab]",
        "x.p?",
        "é",
        "SRC",
    ]
)
PATTERNS = st.builds(
    lambda sign, root, parts, end: sign + root + "/".join(parts) + end,
    st.sampled_from(["", "", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(PARTS, min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
)
RULES = st.lists(st.lists(PATTERNS, min_size=1, max_size=3), max_size=6)


def spelled(patterns: list[str]) -> tuple[str, ...]:
    try:
        return spelled_all(patterns)
    except UsageError:
        return ()


@pytest.mark.slow
@given(RULES, PATHS, st.booleans())
def test_the_index_finds_what_the_patterns_cover(
    rules: list[list[str]], path: str, fold: bool
) -> None:
    spellings = [spelled(patterns) for patterns in rules]
    policy_book = book(*(leased("worker-2", *patterns) for patterns in spellings), fold=fold)
    expected = [
        number
        for number, patterns in enumerate(spellings)
        if patterns and pattern.covers(patterns, path, fold=fold)
    ]
    assert rulebook.covering(policy_book, path) == expected


@pytest.mark.parametrize(
    ("patterns", "path", "covered"),
    [
        (["/src/a.py"], "src/a.py", True),
        (["/src/a.py"], "src/a.py/in-a-folder", True),
        (["/src/a.py"], "src/a.py\n", False),
        (["/src/"], "src", False),
        (["/src/"], "src/new/deep.py", True),
        (["a.py"], "src/a.py", True),
        (["*.md"], "docs/.md", True),
        (["*.md"], "docs.md/a.py", True),
        (["*.md"], "docs/a.md\n", False),
        (["*.tar.gz"], "x/a.tar.gz", True),
        (["*.gz/"], "x/a.tar.gz", False),
        (["/docs/**/*.md"], "docs/a/b/c.md", True),
        (["/docs/*"], "docs/a\nb.md", True),
        (["/src/", "!/src/gen/", "/src/gen/mine.py"], "src/gen/mine.py", True),
        (["/src/", "!/src/gen/", "/src/gen/mine.py"], "src/gen/other.py", False),
    ],
)
def test_a_path_is_covered_or_not(patterns: list[str], path: str, covered: bool) -> None:
    assert rulebook.covering(book(leased("worker-2", *patterns)), path) == [0] * covered


def test_where_upper_and_lower_case_are_one_they_are_one_in_every_part_of_the_index() -> None:
    patterns = ["/Src/A.py", "Makefile", "*.MD", "/Docs/**/x?.txt"]
    policy_book = book(*(leased("worker-2", pattern) for pattern in patterns), fold=True)
    paths = ["sRC/a.PY", "lib/MAKEFILE", "a/B.md", "dOCS/a/X1.TXT"]
    assert [rulebook.covering(policy_book, path) for path in paths] == [[0], [1], [2], [3]]
    policy_book = book(*(leased("worker-2", pattern) for pattern in patterns), fold=False)
    assert [rulebook.covering(policy_book, path) for path in paths] == [[], [], [], []]


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("a", True), ("a/b", True), (".hidden", True), ("a\nb", True), ("..a", True), ("", False),
        ("/a", False), ("a/", False), ("a//b", False), ("./a", False), ("a/../b", False),
        ("..", False), ("a\0b", False),
    ],
)  # fmt: skip
def test_a_plain_path_is_one_that_git_could_have(path: str, plain: bool) -> None:
    assert rulebook.is_plain(path) is plain


# ---------------------------------------------------------------------------- as a file

REF = "refs/ghp/clone/0123456789ab"
STAMP: dict[str, Any] = {"folders": [], "packed": None, "case": [], "texts": []}


def written(folder: Path) -> bytes:
    return Path(rulebook.path_of(str(folder))).read_bytes()


def test_a_commit_that_changes_no_rule_signs_the_book_of_the_one_before(tmp_path: Path) -> None:
    folder = str(tmp_path)
    rulebook.keep(folder, f"loose {REF} aaa", STAMP, {"rules": []})
    kept = written(tmp_path)
    rulebook.restamp(folder, REF, "bbb", "ccc")
    rulebook.restamp(folder, "refs/ghp/clone/another", "aaa", "ccc")
    assert written(tmp_path) == kept
    rulebook.restamp(folder, REF, "aaa", "ccc")
    assert written(tmp_path) == kept.replace(b"aaa", b"ccc")


def test_a_book_of_a_packed_ref_is_signed_as_one_of_a_loose_one(tmp_path: Path) -> None:
    rulebook.keep(str(tmp_path), f"packed {REF} aaa", STAMP, {})
    rulebook.restamp(str(tmp_path), REF, "aaa", "ccc")
    assert written(tmp_path).startswith(f"loose {REF} ccc\n".encode())


def test_where_there_is_no_book_none_is_signed(tmp_path: Path) -> None:
    rulebook.restamp(str(tmp_path), REF, "aaa", "ccc")
    assert not rulebook.exists(str(tmp_path))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n", b"loose", b"loose x y\n", b"loose x y\nnot json", b"loose x y\n[]",
        b'loose x y\n{"version": 999}', b"\xff\xfe\n{}", b"loose x y\n\xff",
        b'loose x y\n{"version": 1', b"loose x y\n" + b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_torn_or_foreign_file_is_no_book(tmp_path: Path, content: bytes) -> None:
    path = Path(rulebook.path_of(str(tmp_path)))
    path.write_bytes(content)
    assert rulebook.read_stale(str(tmp_path)) is None
    rulebook.restamp(str(tmp_path), REF, "aaa", "ccc")
    assert path.read_bytes() == content


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    path = Path(rulebook.path_of(str(tmp_path)))
    path.mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        rulebook.keep(str(tmp_path), f"loose {REF} aaa", STAMP, {})
    rulebook.drop(str(tmp_path))
    assert [file.name for file in path.parent.iterdir()] == [rulebook.NAME]


def test_a_book_that_is_dropped_is_gone(tmp_path: Path) -> None:
    rulebook.keep(str(tmp_path), f"loose {REF} aaa", STAMP, {"fold": True})
    assert rulebook.read_stale(str(tmp_path)) == {
        "version": rulebook.VERSION,
        "stamp": STAMP,
        "fold": True,
    }
    rulebook.drop(str(tmp_path))
    rulebook.drop(str(tmp_path))
    assert not rulebook.exists(str(tmp_path))
