"""What is written about the commands is what the commands say."""

import pytest

from tools import docs

REMEDY = "Run `make docs` and commit the result."


def test_the_page_of_commands_is_up_to_date() -> None:
    assert docs.PAGE.read_text() == docs.page(), REMEDY


def test_the_table_in_the_readme_is_up_to_date() -> None:
    readme = docs.README.read_text()
    assert docs.with_table(readme) == readme, REMEDY


def test_the_table_replaces_only_what_is_between_its_marks() -> None:
    before = f"Above.\n\n{docs.BEGIN}\nold\n{docs.END}\n\nBelow.\n"
    assert docs.with_table(before) == (
        f"Above.\n\n{docs.BEGIN}\n{docs.table()}\n{docs.END}\n\nBelow.\n"
    )


def test_a_readme_without_the_marks_is_refused() -> None:
    with pytest.raises(AssertionError, match=r"README.md needs the lines"):
        docs.with_table("Nothing.\n")
