"""A pattern said in a folder means the same from the root, and bad ones say what to do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import (
    LONGEST,
    MOST,
    escaped,
    is_plain,
    literal_start,
    spelled,
    spelled_all,
    unescaped,
)
from ghp_agents.core.globs import covers


@pytest.mark.parametrize(
    ("word", "folder", "pattern"),
    [
        ("src/", "", "src/"),
        ("src/", "lib", "/lib/**/src/"),
        ("a.py", "", "a.py"),
        ("a.py", "lib", "/lib/**/a.py"),
        ("a/b", "", "/a/b"),
        ("a/b", "lib/deep", "/lib/deep/a/b"),
        ("/a", "", "/a"),
        ("/a", "lib", "/lib/a"),
        ("./a", "", "/a"),
        ("./a", "lib", "/lib/a"),
        ("./../a", "lib", "/a"),
        ("../../a/", "lib/deep", "/a/"),
        (".", "", "*"),
        (".", "lib", "/lib/"),
        ("./", "lib", "/lib/"),
        ("..", "lib", "*"),
        ("*", "", "*"),
        ("**", "", "*"),
        ("/**", "", "*"),
        ("*", "lib", "/lib/"),
        ("./*", "", "/*"),
        ("**/", "", "*/"),
        ("a/**/", "", "/a/*/"),
        ("*/", "lib", "/lib/**/*/"),
        ("a/**", "", "/a/"),
        ("a/**/b", "", "/a/**/b"),
        ("**/x", "", "x"),
        ("**/x/", "", "x/"),
        ("**/x", "lib", "/lib/**/x"),
        ("a//b", "", "/a/b"),
        ("[a-z0-9]*.py", "", "[a-z0-9]*.py"),
        ("a b  ", "", "a b"),
        ("a\\ ", "", "a\\ "),
        (" a", "", "**/ a"),
        ("!a", "lib", "!/lib/**/a"),
        ("!../a", "lib", "!/a"),
        ("\\!a", "", "\\!a"),
        ("\\#a", "", "\\#a"),
        ("a", "odd[1]/b*", "/odd\\[1\\]/b\\*/**/a"),
        ("ä/ö", "ü", "/ü/ä/ö"),
    ],
)
def test_a_word_said_in_a_folder_is_spelled_from_the_root(
    word: str, folder: str, pattern: str
) -> None:
    assert spelled(word, folder) == pattern
    assert spelled(pattern) == pattern, "a spelled pattern is spelled as it is"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("", "A pattern is empty."),
        ("  ", "A pattern is empty."),
        ("!", "A pattern is empty."),
        ("! ", "A pattern is empty."),
        ("/", "'/' matches nothing."),
        ("!/", "'!/' matches nothing."),
        ("a\\", "'a\\\\' has a backslash before a `/` or at its end."),
        ("a\\/b", "'a\\\\/b' has a backslash before a `/` or at its end."),
        ("[z", "'[z' has an invalid bracket."),
        ("a[]b", "'a[]b' has an invalid bracket."),
        ("[[:alpha:]]", "'[[:alpha:]]' has an invalid bracket."),
        ("[9-0]", "'[9-0]' has an invalid bracket."),
        ("[a&&b]", "'[a&&b]' has an invalid bracket."),
        ("[a/b]", "'[a/b]' has an invalid bracket."),
        ("# a", "'# a' is a comment."),
        ("a/../b", "'a/../b' contains `.` or `..` after the first name."),
        ("a/./b", "'a/./b' contains `.` or `..` after the first name."),
        ("a/..", "'a/..' contains `.` or `..` after the first name."),
        ("../a", "'../a' is outside this repository."),
        ("..", "'..' is outside this repository."),
        ("a\nb", "'a b' has characters that cannot be printed."),
        ("\x1b[31m", "'[31m' has characters that cannot be printed."),
        ("\udc80", "'?' has characters that cannot be printed."),
        ("**/a/" * 5 + "b", "'**/a/**/a/**/a/**/a/**/a/b' has `**` more than 4 times."),
        ("x" * (LONGEST + 1), f"A pattern has {LONGEST + 1} characters; the limit is {LONGEST}."),
    ],
)
def test_what_is_no_pattern_is_refused_and_says_what_to_do(word: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        spelled(word)
    assert str(caught.value).startswith(message)
    assert caught.value.hint


def test_patterns_that_are_said_twice_count_where_they_were_said_last() -> None:
    assert spelled_all(["a", "!b", "a", "./b/"]) == ("!b", "a", "/b/")
    assert spelled_all([]) == ()


def test_patterns_that_only_take_away_are_refused() -> None:
    with pytest.raises(UsageError) as caught:
        spelled_all(["!a", "!b"])
    assert str(caught.value) == "All patterns are exceptions (`!`), so nothing is selected."


def test_ten_thousand_patterns_are_too_many_and_a_thousand_are_not() -> None:
    assert len(spelled_all(f"src/{number}.py" for number in range(MOST))) == MOST
    with pytest.raises(UsageError) as caught:
        spelled_all(f"src/{number}.py" for number in range(10_000))
    assert str(caught.value) == "10000 patterns are too many; the limit is 1000."


@given(st.text(st.sampled_from("ab/*?[]!-\\#. _&^:0z"), max_size=12), st.sampled_from(["", "a/[b"]))
def test_what_can_be_spelled_can_be_matched(word: str, folder: str) -> None:
    try:
        pattern = spelled(word, folder)
    except UsageError:
        return
    assert spelled(pattern) == pattern
    covers([pattern], "a/b")


NAMES = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="/"), min_size=1)


@pytest.mark.slow
@given(NAMES.filter(lambda name: name not in (".", "..")))
def test_an_escaped_name_means_only_itself(name: str) -> None:
    pattern = escaped(name)
    assert unescaped(pattern) == literal_start(pattern) == name
    assert is_plain(pattern)
    assert covers([spelled(f"./{pattern}")], name)
    assert not covers([spelled(f"./{pattern}")], f"x{name}")
