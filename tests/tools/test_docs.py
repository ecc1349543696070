"""What is written about the commands is what the commands say."""

from tools import docs

REMEDY = "Run `make docs` and commit the result."


def test_the_page_of_commands_is_up_to_date() -> None:
    assert docs.PAGE.read_text() == docs.page(), REMEDY
