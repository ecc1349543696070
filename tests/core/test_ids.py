"""Names: what may become a path, a branch or an id, and what is refused with a hint."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ghp_agents.core import files
from ghp_agents.core import ids as names
from ghp_agents.core.errors import ExitCode, UsageError
from ghp_agents.hotpath import heartbeat as pulse
from tests.support.ghp import CHECKOUT

WORDS = st.text("abz09._-A/\\ \né", max_size=70)


@pytest.mark.parametrize(
    "name", ["a", "7", "worker-1", "claude-3f9a", "a.b_c-d", "x" * 63, "console"]
)
def test_an_agents_name_is_taken_as_it_is(name: str) -> None:
    assert names.agent_name(name) == name


def test_capital_letters_of_a_name_are_lowered() -> None:
    assert names.agent_name("Worker-1") == "worker-1"


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "../../x", "a/b", "a\\b", "a b", "a\n", "a\0", "Wörker", "\u212a", "é",
        "\uff41",
        "-a", ".a", "_a", "a.", "a..b", "a.lock", "con", "nul.txt", "com1", "lpt9.x",
        "x" * 64, "x" * 10_000_000,
    ],
)  # fmt: skip
def test_what_could_not_be_a_file_or_a_ref_everywhere_is_no_name(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        names.agent_name(name)
    assert caught.value.exit_code is ExitCode.USAGE
    assert len(str(caught.value)) < 400
    assert caught.value.hint.endswith("worker-1.")


@given(WORDS)
@example("aux.b")
def test_every_agents_name_is_one_file_in_its_folder(text: str) -> None:
    if pulse.is_name(text):
        assert re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,62}", text)
        assert files.below(Path("/agents"), f"{text}.json").parent == Path("/agents")


@given(st.text("ab-zA1 \né", max_size=34))
def test_a_status_is_lower_case_words_and_dashes(text: str) -> None:
    assert pulse.is_status(text) == bool(re.fullmatch(r"[a-z][a-z-]{0,31}", text))


def test_a_status_that_nobody_knows_is_still_a_status() -> None:
    assert names.status_name("sulking") == "sulking"
    assert all(names.status_name(status) == status for status in names.KNOWN_STATUSES)


def test_a_word_that_is_no_status_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="'In Progress' is not a valid status") as caught:
        names.status_name("In Progress")
    assert "idle, planning, implementing" in caught.value.hint


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = names.one_line(text, limit)
    assert len(line) <= limit
    assert line.isprintable()
    assert names.one_line(line, limit) == line


def test_a_long_line_shows_that_it_was_cut() -> None:
    assert names.one_line(" a\tb\r\n\x1b[31mc ", 80) == "a b [31mc"
    assert names.one_line("x" * 9, 8) == "xxxxxxx…"


@given(st.text(max_size=3_000))
def test_the_fast_road_cleans_an_action_as_one_line(text: str) -> None:
    assert pulse.clean_action(text[:500]) == names.one_line(text[:500], pulse.ACTION_LIMIT)
    assert len(pulse.clean_action(text)) <= pulse.ACTION_LIMIT


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_a_slug_can_be_part_of_a_branch(text: str, limit: int) -> None:
    slug = names.slug(text, limit)
    assert re.fullmatch(r"([a-z0-9]+(-[a-z0-9]+)*)?", slug)
    assert len(slug) <= limit


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_a_digest_tells_different_parts_apart(one: list[str], other: list[str]) -> None:
    if not any("\0" in part for part in one + other):
        same = "\0".join(one) == "\0".join(other)
        assert (names.digest(*one) == names.digest(*other)) is same


def test_a_digest_is_the_same_on_every_machine() -> None:
    assert names.digest("worker-1", "Which colour?") == "e1a1ffd96356"
    assert names.digest("\udcff", length=8) == "a8100ae6"


def test_a_digest_does_not_load_openssl() -> None:
    program = (
        "import sys; from ghp_agents.core.ids import digest; "
        "print(digest('worker-1', 'Which colour?'), '_hashlib' in sys.modules)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert shown.stdout == "e1a1ffd96356 False\n"


@pytest.mark.parametrize(
    ("branch", "issue"),
    [
        ("agent/worker-1/147-dashboard", 147),
        ("147-dashboard", 147),
        ("feature-147-dashboard", 147),
        ("fix/147", 147),
        ("issue#147", 147),
        ("main", None),
        ("release/1.2", None),
        ("agent/worker-1", None),
        ("fix/0", None),
        (f"fix/{2**53}", None),
        (f"fix/{'9' * 200}", None),
    ],
)
def test_the_issue_of_a_branch_is_found_as_upstream_finds_it(
    branch: str, issue: int | None
) -> None:
    assert names.issue_of_branch(branch) == issue


def test_ids_are_shortened_as_far_as_they_stay_unique() -> None:
    ids = ["abcd1111", "abcd1122", "abce0000", "ff000000", "abcd1111"]
    assert names.short_ids(ids) == {
        "abcd1111": "abcd111",
        "abcd1122": "abcd112",
        "abce0000": "abce",
        "ff000000": "ff00",
    }
    assert names.short_ids([]) == {}


@pytest.mark.parametrize(
    ("texts", "line"),
    [("", ""), ("a", "a"), ("a b", "a, b"), ("a b c d", "a, b and 2 more")],
)
def test_a_list_that_is_too_long_says_how_many_more_there_are(texts: str, line: str) -> None:
    assert names.listed(texts.split(), 2) == line


def test_bytes_of_a_name_that_is_not_utf_8_are_written_as_such() -> None:
    assert names.one_line("bad\udcff\udcfe\x1bname \ud800.txt", 80) == r"bad\xff\xfe name .txt"


def test_a_title_is_the_first_line_that_says_something() -> None:
    assert names.first_line("\n  \n\tWhich\x1b one?\nthis") == "Which one?"
    assert names.first_line("x" * 500, 10) == "xxxxxxxxx…"
    assert names.first_line("") == ""
