"""The page of events is the table that readers use."""

from ghp_agents.state.events import KINDS
from tools import event_docs


def test_the_page_is_up_to_date() -> None:
    assert event_docs.PAGE.read_text() == event_docs.page(), "Run `make docs`."


def test_every_relation_and_every_interruption_is_explained() -> None:
    assert {who for kind in KINDS.values() for who in kind.concerns} == event_docs.RELATIONS.keys()
    assert {how for kind in KINDS.values() for how in kind.reach} == event_docs.REACH.keys()
