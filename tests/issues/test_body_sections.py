"""What an issue's body says is found however people lay it out."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.issues.body_sections import Outline, outline, section

FREE = """\
We need a dashboard.

## Acceptance criteria
- [ ] shows agents
- [x] is fast

### Speed
Under a second.

## Notes
- [ ] later
"""
FORM = """\
### What is wanted?

A dashboard.

### Definition of done

It shows agents.

### Anything else

No.
"""


def test_free_text_with_headings_is_read() -> None:
    assert outline(FREE) == Outline(
        "We need a dashboard.",
        dedent("""\
            Acceptance criteria

            - [ ] shows agents
            - [x] is fast

            ### Speed
            Under a second."""),
        tasks_open=2,
        tasks=3,
    )


def test_an_issue_form_is_read() -> None:
    done = "Definition of done\n\nIt shows agents."
    assert outline(FORM) == Outline("A dashboard.", done)


def test_without_headings_all_of_it_is_the_goal() -> None:
    assert outline("Make it fast.\r\n\r\nPlease.") == Outline("Make it fast.\n\nPlease.")
    assert outline("") == Outline()


def test_a_body_whose_headings_mean_nothing_to_us_is_the_goal_as_a_whole() -> None:
    body = "# Storage\nUse a file.\n# Tests\nSome."
    assert outline(body) == Outline(body)


def test_tasks_are_the_acceptance_where_nothing_else_is() -> None:
    assert outline("Do:\n- [ ] one\n* [X] two\n") == Outline(
        "Do:\n- [ ] one\n* [X] two", "- [ ] one\n* [X] two", tasks_open=1, tasks=2
    )


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_code_has_neither_headings_nor_tasks(fence: str) -> None:
    body = f"Run this:\n{fence}sh\n# Acceptance\n- [ ] no task\n``\n{fence}\n- [ ] a task\n"
    assert outline(body) == Outline(body.strip(), "- [ ] a task", tasks_open=1, tasks=1)


def test_a_fence_that_is_never_closed_hides_the_rest() -> None:
    assert outline("Look:\n```\n# Acceptance\nx") == Outline("Look:\n```\n# Acceptance\nx")


@given(st.text(st.sampled_from("#`~- []x\n\tab "), max_size=200))
def test_any_text_can_be_read(body: str) -> None:
    read = outline(body)
    assert read.tasks_open <= read.tasks
    assert bool(read.goal or read.acceptance) == bool(body.strip()) or "#" in body


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("## Scope\n\n- src/\n- docs/\n\n## Tasks\n\n- [ ] a", "- src/\n- docs/"),
        ("### scope:\r\nsrc/\r\n#### more\r\ndocs/\r\n### Next\r\nno", "src/\n#### more\ndocs/"),
        ("```\n# Scope\nno\n```\n# Scope #\n```\n# yes\n```", "```\n# yes\n```"),
        ("# Scope\none\n# Scope\ntwo", "one"),
        ("# Scope\n# Next", ""),
        ("# Scopes\nno\nScope\nno", ""),
        ("", ""),
    ],
)
def test_a_section_can_be_asked_for_by_its_title(body: str, text: str) -> None:
    assert section(body, "Scope") == text


def test_a_heading_that_never_ends_takes_no_time() -> None:
    line = "# " + "#" * 60_000 + "a"  # an expression that tries every end takes a minute for it
    assert section(f"{line}\ntext", "Scope") == ""
    assert section("## Scope ##\ntext", "Scope") == "text"
