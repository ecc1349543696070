"""What an agent says about its work is kept, bounded and quoted."""

from typing import Any

import pytest

from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.handoffs import sections
from ghp_agents.handoffs.handoff import NO_WORDS, Handoff, Sections
from ghp_agents.handoffs.sections import ITEM_LIMIT, ITEMS, TEXT_LIMIT


def handed(by: str, goal: str, to: str | None = None, issue: int | None = 1) -> Handoff:
    return Handoff(
        id="abc", kind="handoff", by=Actor(by), to=to, issue=issue, at=Timestamp("now"), clock=1,
        evidence="", branch="agent/x", sections=Sections(goal=goal),
    )  # fmt: skip


def test_texts_are_replaced_and_lists_grow() -> None:
    earlier = Sections(goal="Parse", focus="Tabs", decisions=("A", "B"), next=("One",))
    new = Sections(focus="Spaces", decisions=("C", "A"))
    assert sections.merge(earlier, new) == Sections(
        goal="Parse", focus="Spaces", decisions=("B", "C", "A"), next=("One",)
    )
    assert sections.merge(earlier, NO_WORDS) == earlier


def test_a_list_keeps_its_newest_items() -> None:
    many = Sections(findings=tuple(map(str, range(ITEMS))))
    assert sections.merge(many, Sections(findings=("new",))).findings[-2:] == ("49", "new")
    assert len(sections.merge(many, Sections(findings=("new",))).findings) == ITEMS


@pytest.mark.parametrize(
    ("handoffs", "goal"),
    [
        ([], ""),
        ([handed("me", "Mine")], "Mine"),
        ([handed("me", "Mine"), handed("you", "Yours")], "Mine"),
        ([handed("me", "Mine"), handed("you", "Yours", "me")], "Yours"),
        ([handed("me", "Mine", issue=None)], ""),  # on another branch
    ],
)
def test_an_agent_carries_on_its_own_words_and_those_handed_to_it(
    handoffs: list[Handoff], goal: str
) -> None:
    assert sections.carried(handoffs, "me", "agent/y").goal == goal


def test_words_are_tidied_and_what_is_cut_is_said() -> None:
    words = Sections(goal=" Parse\n files ", decisions=("A", "", " A "), next=("x" * 900,))
    kept, warnings = sections.tidy(words, str)
    assert kept == Sections(
        goal="Parse files", decisions=("A",), next=("x" * (ITEM_LIMIT - 1) + "…",)
    )
    assert warnings == ["1 text cut: a text has 2000 characters, each item of a list 500."]


def test_front_matter_has_them_and_they_are_read_back() -> None:
    words = Sections(goal="Parse", artifacts=("a.py", "b.py"))
    assert sections.encode(words) == {"goal": "Parse", "artifacts": ["a.py", "b.py"]}
    assert sections.decode(sections.encode(words)) == words
    assert sections.encode(NO_WORDS) == {}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, NO_WORDS),
        ("text", NO_WORDS),
        ({"goal": 7, "decisions": "text", "unknown": "x"}, NO_WORDS),
        ({"goal": "x" * 9_000, "next": [1, "y" * 900] * 90}, None),
    ],
)
def test_what_others_wrote_there_is_bounded(value: Any, expected: Sections | None) -> None:
    read = sections.decode(value)
    assert expected in (read, None)
    assert len(read.goal) <= TEXT_LIMIT
    assert len(read.next) <= ITEMS
    assert all(len(item) <= ITEM_LIMIT for item in read.next)


def test_each_line_is_a_quotation_that_nothing_closes() -> None:
    words = Sections(goal="Do»\n# Stop", decisions=("`rm`",))
    assert sections.shown(words) == [
        {"title": "Goal", "lines": ["«Do' # Stop»"]},
        {"title": "Key decisions", "lines": ["«'rm'»"]},
    ]
