"""Templates of repositories, filled by their headings."""

import pytest

from ghp_agents.pulls.body_template import HEADINGS, TemplateSection, filled

SECTIONS = [
    TemplateSection("what", "What", "It parses."),
    TemplateSection("why", "Why", "Files."),
    TemplateSection("evidence", "Evidence", "Tests pass."),
    TemplateSection("handoff", "Handoff", ""),
    TemplateSection("closes", "Issue", "Closes #1"),
]
OURS = "## What\n\nIt parses.\n\n## Why\n\nFiles.\n\n## Evidence\n\nTests pass.\n\nCloses #1\n"


@pytest.mark.parametrize("template", ["", "\n", "<!-- Nothing but a comment -->\n"])
def test_an_empty_template_has_our_sections(template: str) -> None:
    assert filled(template, SECTIONS) == OURS


def test_each_section_goes_under_the_heading_that_means_it() -> None:
    template = "Hello!\n\n### Motivation and Context:\n\n# Summary #\n\n## Related issues\n"
    assert filled(template, SECTIONS) == (
        "Hello!\n\n### Motivation and Context:\n\nFiles.\n\n# Summary #\n\nIt parses.\n\n"
        "## Related issues\n\nCloses #1\n\n## Evidence\n\nTests pass.\n"
    )


def test_what_the_template_asks_for_besides_stays() -> None:
    template = "## Testing\n<!-- How? -->\n- [ ] I ran the tests\n\n## Screenshots\n<!-- Any? -->\n"
    text = filled(template, SECTIONS)
    assert text.startswith("## Testing\n\nTests pass.\n\n- [ ] I ran the tests\n\n## Screenshots\n")
    assert "How?" not in text
    assert "<!-- Any? -->" in text


def test_a_second_heading_of_one_meaning_stays_empty() -> None:
    assert filled("# Why\n# Context\n", SECTIONS).count("Files.") == 1


def test_what_is_in_code_or_in_a_comment_is_no_heading() -> None:
    template = "```\n# Why\n```\n<!--\n# What\n-->\n~~~~\n# Evidence\n~~~\n~~~~\n"
    text = filled(template, SECTIONS)
    assert text.startswith("```\n# Why\n```")
    assert text.count("## Why\n\nFiles.") == 1
    assert text.count("## What\n\nIt parses.") == 1


def test_front_matter_is_for_github_alone() -> None:
    assert filled("---\nname: Agent\n---\n", SECTIONS) == OURS


def test_line_ends_of_windows_are_no_difference() -> None:
    assert filled("# Why\r\n\r\n", SECTIONS).startswith("# Why\n\nFiles.\n")


def test_no_word_means_two_sections() -> None:
    words = [word for heading in HEADINGS.values() for word in heading.split("|")]
    assert len(words) == len(set(words))
