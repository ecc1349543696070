"""What bodies say about other issues, as we, people and forms write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import IssueNumber
from ghp_agents.core.metadata import as_metadata
from ghp_agents.github.tracker.body import BodyParts, joined, read_relations, without


def parts(text: str, blocked_by: tuple[int, ...] = (), parent: int | None = None) -> BodyParts:
    numbers = tuple(IssueNumber(number) for number in blocked_by)
    return BodyParts(text, numbers, None if parent is None else IssueNumber(parent))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", parts("")),
        ("Just text, see #12.", parts("Just text, see #12.")),
        # Our own lines are the last ones, and no part of the text.
        ("Text\n\n**Blocked by:** #3, #2\n**Parent:** #1", parts("Text", (2, 3), 1)),
        ("**Parent:** #1\n", parts("", (), 1)),
        ("Text\r\n\r\n**Blocked by:** #3\r\n", parts("Text", (3,))),
        # Those of people count wherever they are, and stay where they are.
        ("**Blocked by:** #3\n\nText", parts("**Blocked by:** #3\n\nText", (3,))),
        ("- **blocked by**: #3 and #4 (soon)", parts("- **blocked by**: #3 and #4 (soon)", (3, 4))),
        ("**Parent:** #7, or #8\nmore", parts("**Parent:** #7, or #8\nmore", (), 7)),
        # As an issue form leaves it.
        ("### Blocked by\n\n#12, #13\n\n### Goal\n\nSee #14",
         parts("### Blocked by\n\n#12, #13\n\n### Goal\n\nSee #14", (12, 13))),
        ("### Blocked by\n\n_No response_", parts("### Blocked by\n\n_No response_")),
        ("## Parent:\n#5\n## Other\n#6", parts("## Parent:\n#5\n## Other\n#6", (), 5)),
        # What is no such line.
        ("```\n**Blocked by:** #3\n```", parts("```\n**Blocked by:** #3\n```")),
        ("Blocked by: #3", parts("Blocked by: #3")),
        ("**Blocked by:** other/repo#3, ab#4, &#35;, #0, #x", parts(
            "**Blocked by:** other/repo#3, ab#4, &#35;, #0, #x")),
        ("**Blocked by:** #99999999999999", parts("**Blocked by:** #99999999999999")),
    ],
)  # fmt: skip
def test_a_body_is_text_and_relations(body: str, expected: BodyParts) -> None:
    assert read_relations(body) == expected


def test_what_is_joined_is_read_back() -> None:
    whole = parts("Text\nof two lines", (2, 3), 1)
    assert joined(whole) == "Text\nof two lines\n\n**Blocked by:** #2, #3\n**Parent:** #1"
    assert read_relations(joined(whole)) == whole
    assert joined(parts("Text")) == "Text"


@pytest.mark.parametrize("text", ["", "Text", "```", "Text\n\n**Blocked by:** #3"])
def test_metadata_is_the_last_line_and_calls_nobody(text: str) -> None:
    metadata = as_metadata({"to": "@copilot `x` --> /gemini", "é": [1]})
    body = joined(read_relations(text)._replace(metadata=metadata))
    last = body.split("\n")[-1]
    assert last.startswith("**Metadata:** `{")
    assert not {*"@/<>"} & {*last}
    assert last.count("`") == 2
    assert read_relations(body) == read_relations(text)._replace(metadata=metadata)


@pytest.mark.parametrize("line", ["{", "{}", "[1]", '{"a": NaN}', '{"a":' * 20 + "1" + "}" * 20])
def test_what_is_no_metadata_stays_text(line: str) -> None:
    body = f"Text\n**Metadata:** `{line}`"
    assert read_relations(body) == parts(body)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("**Blocked by:** #2, #3\n\nText #2", "**Blocked by:** #3\n\nText #2"),
        ("Before\n**Blocked by:** #2\nText", "Before\nText"),
        ("### Blocked by\n\n#2\n\n### Goal\n\n#2", "### Blocked by\n\n\n### Goal\n\n#2"),
        ("- **Blocked by:** #2, #3 (later)", "- **Blocked by:** #3 (later)"),
        ("**Parent:** #2\nText", "**Parent:** #2\nText"),
        ("```\n**Blocked by:** #2\n```", "```\n**Blocked by:** #2\n```"),
    ],
)
def test_a_blocker_is_taken_out_wherever_it_is_named(text: str, left: str) -> None:
    assert without(text, [2]) == left
    assert 2 not in read_relations(without(text, [2])).blocked_by


def test_a_parent_is_taken_out() -> None:
    assert without("**Parent:** #2\n**Blocked by:** #2", parent=2) == "**Blocked by:** #2"


@pytest.mark.parametrize(
    "line",
    [
        "#" * 500_000,
        "* " * 250_000,
        "# " + "#" * 500_000 + "a",
        "**blocked by" + " " * 500_000,
        "**Blocked by:** " + "#1," * 300_000,
        "`" * 500_000,
    ],
)
def test_a_megabyte_takes_no_time(line: str) -> None:
    parts = read_relations(f"{line}\n**Parent:** #7")
    assert len(parts.blocked_by) <= 1
    without(line, [1])


@given(st.text(alphabet=st.sampled_from("a#1 \n*`-:PBarentlockdby"), max_size=200))
def test_the_text_of_a_body_says_nothing_more_than_the_body(text: str) -> None:
    parts = read_relations(text)
    again = read_relations(joined(parts))
    assert (again.blocked_by, again.parent) == (parts.blocked_by, parts.parent)
