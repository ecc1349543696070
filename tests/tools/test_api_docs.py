"""The page of the Python API is what `ghp_agents.api` has."""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.issues.issue import Comment, Issue
from tools import api_docs


def test_the_page_is_up_to_date() -> None:
    assert api_docs.PAGE.read_text(encoding="utf-8") == api_docs.page(), "Run `make docs`."


def test_types_of_this_program_are_found_in_signatures() -> None:
    def example(number: int, each: Sequence[Issue]) -> Comment | None:
        """An example."""

    assert api_docs.types_of(example) == [Comment, Issue]


def test_fields_are_shown_as_they_are_written() -> None:
    class Record(NamedTuple):
        texts: "list[str] | None"
        number: int

    assert list(api_docs.fields(Record)) == [("texts", "list[str] | None"), ("number", "int")]
