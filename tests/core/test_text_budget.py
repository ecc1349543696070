"""A text within a budget says what it leaves out, and never exceeds it."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.text_budget import LEAST, BudgetSection, fit, mark, split

LINES = st.lists(st.text(st.characters(codec="utf-8", categories=("L", "P", "Zs")), max_size=200))
SECTIONS = st.lists(
    st.builds(
        BudgetSection,
        title=st.text("abc ", min_size=1, max_size=20),
        command=st.text("git log", max_size=60),
        text=LINES.map("\n".join).filter(str.strip),
    ),
    max_size=9,
)


def section(title: str, lines: int, width: int = 20) -> BudgetSection:
    text = "\n".join(f"{number:03} ".ljust(width - 1, "x") for number in range(lines))
    return BudgetSection(title, f"show {title}", text)


def test_what_fits_is_printed_whole() -> None:
    text = fit("# Head", [BudgetSection("One", "x", "a\nb"), BudgetSection("Two", "y", "c")], 1000)
    assert text == dedent("""\
        # Head

        ## One

        a
        b

        ## Two

        c
        """)


def test_a_long_section_is_cut_and_says_what_shows_the_rest() -> None:
    text = fit("# Head", [section("Long", 100), section("Short", 2)], LEAST)
    assert text.splitlines()[:3] == ["# Head", "", "## Long"]
    kept = [line for line in text.split("## Short")[0].splitlines() if line[:3].isdigit()]
    assert f"… ({100 - len(kept)} of 100 lines cut; see `show Long`)" in text
    assert text.endswith("## Short\n\n000 xxxxxxxxxxxxxxx\n001 xxxxxxxxxxxxxxx\n")
    assert len(kept) > 25
    assert LEAST - 200 < len(text) <= LEAST


def test_the_first_sections_get_most_and_the_last_are_named() -> None:
    names = ("A", "B", "C", "D", "E", "F", "G")
    text = fit("# Head", [section(name, 60) for name in names], LEAST)
    sizes = [
        text.count("\n", text.find(f"## {name}\n")) for name in names if f"## {name}\n" in text
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert text.splitlines()[-1].startswith("Left out for size: ")
    assert text.splitlines()[-1].endswith("F (`show F`); G (`show G`).")


def test_a_single_long_line_is_cut_within() -> None:
    text = fit("# Head", [BudgetSection("Note", "show", "> " + "x" * 5000)], LEAST)
    assert "xxx…\n… (1 of 1 lines cut; see `show`)" in text
    assert LEAST - 50 < len(text) <= LEAST


def test_a_long_line_after_others_is_cut_within_too() -> None:
    text = fit("# Head", [BudgetSection("Note", "show", "By worker-1:\n\n> " + "x" * 5000)], LEAST)
    assert "By worker-1:\n\n> xxx" in text
    assert "xxx…\n… (1 of 3 lines cut; see `show`)" in text
    assert LEAST - 50 < len(text) <= LEAST


@pytest.mark.slow
@given(head=st.text("h #", max_size=300), sections=SECTIONS, limit=st.integers(LEAST, 5000))
def test_the_budget_is_kept_and_nothing_goes_unsaid(
    head: str, sections: list[BudgetSection], limit: int
) -> None:
    text = fit(head, sections, limit)
    assert len(text) <= limit
    whole = "\n".join([f"{head}\n", *(section.whole for section in sections)])
    if len(whole) <= limit:
        assert text == whole
    for section in sections:
        is_whole = section.whole in text
        is_cut = f"## {section.title}\n" in text and f"see `{section.command}`)" in text
        is_named = f"{section.title} (`{section.command}`)" in text
        # With commands as long as the budget, not even the list of what is left out fits.
        assert is_whole or is_cut or is_named or text.endswith("…\n")


@pytest.mark.slow
@given(sections=SECTIONS)
def test_sections_come_back_from_a_text_with_marks(sections: list[BudgetSection]) -> None:
    text = "head\n" + "".join(f"{mark(s.title, s.command)}\n{s.text}\n" for s in sections)
    head, parts = split(text)
    assert head == "head"
    assert [(s.title, s.command, s.text.strip("\n")) for s in sections] == [
        (s.title, s.command, s.text) for s in parts
    ]


def test_a_section_that_says_nothing_is_left_out() -> None:
    assert split(f"head\n{mark('Empty', 'x')}\n\n \n{mark('Full', 'y')}\na\n") == (
        "head",
        [BudgetSection("Full", "y", "a")],
    )
