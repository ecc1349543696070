"""Patterns mean what git's own ignore files mean, whichever pathspec is installed."""

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import spelled, spelled_all
from ghp_agents.core.globs import Glob, covers, may_meet, overlap, rule, rules, select
from tests.support.git import git

FILES = sorted(["README.md", "docs/a.md", "docs/b/README.md", "lib/src/x.c", "src/a.py", "src/b.c"])


@pytest.mark.parametrize(
    ("patterns", "covered"),
    [
        (["README.md"], ["README.md", "docs/b/README.md"]),
        (["/README.md"], ["README.md"]),
        (["src"], ["lib/src/x.c", "src/a.py", "src/b.c"]),
        (["src/"], ["lib/src/x.c", "src/a.py", "src/b.c"]),
        (["/src/"], ["src/a.py", "src/b.c"]),
        (["*.c"], ["lib/src/x.c", "src/b.c"]),
        (["/*.md"], ["README.md"]),
        (["/docs/**/*.md"], ["docs/a.md", "docs/b/README.md"]),
        (["*"], FILES),
        (["*/"], FILES[1:]),
        (["/src/", "!a.py"], ["src/b.c"]),
        (["!a.py", "/src/"], ["src/a.py", "src/b.c"]),
        (["*", "!*.c", "x.c"], ["README.md", "docs/a.md", "docs/b/README.md", "lib/src/x.c",
                                "src/a.py"]),
        (["nothing"], []),
        ([], []),
    ],
)  # fmt: skip
def test_the_files_that_patterns_cover_are_told_by_the_last_that_matches(
    patterns: list[str], covered: list[str]
) -> None:
    assert select(patterns, FILES) == covered
    assert [path for path in FILES if covers(patterns, path)] == covered


def test_a_new_file_under_a_leased_folder_is_covered() -> None:
    for pattern in ("/src", "/src/", "src", "src/"):
        assert covers([pattern], "src/new/file.py")
    assert covers(["/src"], "src")
    assert not covers(["/src/"], "src"), "a file of the folder's name is not in the folder"
    assert not covers(["/src/"], "src2/a.py")


def test_line_ends_and_odd_letters_in_names_are_like_all_others() -> None:
    assert covers(["/src/"], "src/a\nb")
    assert covers(["/src/**/x"], "src/a\nb/x")
    assert not covers(["/a"], "a\n")
    assert covers(["/\udcff*".replace("\udcff", "?")], "\udcff.bin")
    assert select(["/src/"], ["src/a\nb", "src/\udcff"]) == ["src/a\nb", "src/\udcff"]


def test_case_counts_unless_it_is_folded() -> None:
    assert not covers(["/README.md"], "readme.MD")
    assert covers(["/README.md"], "readme.MD", fold=True)
    assert select(["/SRC/"], FILES, fold=True) == ["src/a.py", "src/b.c"]
    assert may_meet(["/new.py"], ["/NEW.py"], [], fold=True) == "/new.py"
    assert may_meet(["/new.py"], ["/NEW.py"], []) is None


# ------------------------------------------------------------------------------ for the rulebook


@pytest.mark.parametrize(
    ("pattern", "prefix", "path", "name", "only_below"),
    [
        ("/src/a.py", "src/a.py", "src/a.py", None, False),
        ("/src/", "src", "src", None, True),
        ("/s\\[r\\]c/", "s[r]c", "s[r]c", None, True),
        ("Makefile", "", None, "Makefile", False),
        ("build/", "", None, "build", True),
        ("/src/gen-*.py", "src/gen-", None, None, False),
        ("/src/**/x", "src/", None, None, False),
        ("*.py", "", None, None, False),
        ("*", "", None, None, False),
    ],
)
def test_a_rule_says_what_a_dictionary_can_find_it_by(
    pattern: str, prefix: str, path: str | None, name: str | None, only_below: bool
) -> None:
    for sign, include in (("", True), ("!", False)):
        glob = rule(sign + pattern)
        assert glob == Glob(glob.source, include, prefix, path, name, only_below)


def test_the_expressions_of_rules_can_be_joined_into_one() -> None:
    joined = re.compile("|".join(glob.source for glob in rules(["a/", "/b/*.c", "*/", "c"])))
    assert [bool(joined.search(path)) for path in ("a/x", "b/x.c", "c", "d\n/c", "d")] == [
        True, True, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("pattern", ["*a" * 30 + "*b", "*?" * 30 + "*b", "*[!b]" * 30 + "*b"])
def test_many_stars_in_a_name_are_no_work(pattern: str) -> None:
    """Without care, this would not end: each star is tried at each letter."""
    assert covers([pattern], "a" * 200 + "b")
    assert not covers([pattern], "a" * 200)
    assert not covers(["/x/**/" + pattern], "x/" + "a/" * 20 + "a" * 200)


STARRED = st.lists(
    st.sampled_from(["*", "**", "?", "a", "b", "[ab]", "[!a]", "\\*"]), min_size=1, max_size=9
).map("".join)
NAMED = st.text("ab*", min_size=1, max_size=9)


@given(STARRED, NAMED)
def test_stars_in_a_name_mean_what_they_say(pattern: str, name: str) -> None:
    def fits(rest: list[str], left: str) -> bool:
        if not rest:
            return not left
        if rest[0] == "*":
            return any(fits(rest[1:], left[n:]) for n in range(len(left) + 1))
        letters = {"?": "ab*", "[ab]": "ab", "[!a]": "b*", "\\*": "*"}.get(rest[0], rest[0])
        return left[:1] != "" and left[0] in letters and fits(rest[1:], left[1:])

    tokens = re.findall(r"\\\*|\[!?\w+\]|[*?ab]", pattern)
    path = f"/x/{pattern}"
    assume(set(pattern) != {"*"})
    assert covers([path], f"x/{name}") is fits(tokens, name)


def test_what_pathspec_does_not_take_is_an_error_of_ours() -> None:
    for pattern in ("[z-a]", "!", "a\\", "", "# comment"):
        with pytest.raises(UsageError) as caught:
            covers([pattern], "a")
        assert caught.value.hint


# ------------------------------------------------------------------------------------- meeting


@pytest.mark.parametrize(
    ("one", "other", "met"),
    [
        (["/src/a.py"], ["/src/a.py"], "/src/a.py"),
        (["/src/a.py"], ["/src/b.c"], None),
        (["/src/new.py"], ["/src/"], "/src/new.py"),
        (["/src/new/"], ["/src/"], "/src/new/"),
        (["/src/new/deep/"], ["/src/new"], "/src/new/deep/"),
        (["new.py"], ["new.py"], "new.py"),
        (["new.py"], ["*.py"], "new.py"),
        (["*.py"], ["/src/"], "src/a.py"),
        (["*.c"], ["/docs/"], None),
        (["*.md"], ["/docs/*"], "docs/a.md"),
        (["*.rs"], ["*.rs"], "*.rs"),
        (["*.rs"], ["/new-*"], None),
        (["*"], ["/anything/new"], "/anything/new"),
        (["/src/", "!a.py"], ["/src/a.py"], None),
        (["/src/", "!a.py"], ["/src/b.c"], "/src/b.c"),
        (["/src/", "!/src/gen/"], ["/src/gen/"], None),
        (["/src/", "!/src/gen/"], ["/src/gen/x/"], None),
        (["*.rs", "!*.rs"], ["*.rs"], None),
        (["a.py", "!/src/"], ["/src/a.py"], None),
        ([], ["*"], None),
    ],
)
def test_patterns_meet_in_a_file_or_where_one_names_what_the_other_covers(
    one: list[str], other: list[str], met: str | None
) -> None:
    assert may_meet(one, other, FILES) == met
    assert (may_meet(other, one, FILES) is None) == (met is None)


PARTS = st.sampled_from(["a", "b", "ab", "*", "**", "?", "a*", "*b", "[ab]", "[!a]", ".a", "a.b"])
WORDS = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    st.sampled_from(["", "/"]),
    st.lists(PARTS, min_size=1, max_size=4),
    st.sampled_from(["", "/"]),
)
PATHS = st.lists(
    st.sampled_from(["a", "b", "ab", "c", ".a", "a.b", "aab"]), min_size=1, max_size=4
).map("/".join)


@pytest.mark.slow
@given(st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=3), st.sets(PATHS, max_size=6))
def test_two_that_cover_one_file_always_meet(
    one: list[str], other: list[str], paths: set[str]
) -> None:
    files = sorted(paths)
    first, second = spelled_all(one), spelled_all(other)
    both = [path for path in files if covers(first, path) and covers(second, path)]
    met = may_meet(first, second, files)
    assert not both or met is not None
    assert select(first, files) == [path for path in files if covers(first, path)]
    assert overlap(first, select(first, files), second) == met


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("field")
    git(folder, "init", "--quiet", "--template=")
    (folder / "lib/deep").mkdir(parents=True)
    return folder


def _ignored(field: Path, folder: str, word: str, paths: list[str]) -> list[str]:
    """The paths that git ignores by a file with one pattern."""
    for place in ("", "lib", "lib/deep"):
        (field / place / ".gitignore").unlink(missing_ok=True)
    (field / folder / ".gitignore").write_text(f"{word}\n")
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=field, input="\0".join(paths).encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.slow
@settings(max_examples=60)
@given(
    WORDS | st.sampled_from(["a\\ ", " a", "\\!a", "\\#a", "a ", "**/a", "a/**"]),
    st.sampled_from(["", "lib", "lib/deep"]),
    st.lists(PATHS, min_size=1, max_size=20, unique=True),
)
def test_a_pattern_covers_what_git_would_ignore(
    field: Path, word: str, folder: str, paths: list[str]
) -> None:
    paths = [*paths, *(f"lib/{path}" for path in paths), *(f"lib/deep/{path}" for path in paths)]
    pattern = spelled(word, folder)
    covered = [path for path in paths if covers([pattern], path)]
    assert covered == _ignored(field, folder, word, paths)
