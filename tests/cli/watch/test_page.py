"""The lines of the list, without a screen."""

from ghp_agents.cli.watch.page import Listing, Page, aged, matching, news_aged
from ghp_agents.presence.liveness import Liveness
from ghp_agents.reports.overview import AgentRow, Need, NeedKind, Overview, Totals
from tests.support.watching import team


def text(page: Page) -> list[str]:
    return ["".join(part for part, _ in line).rstrip() for line in page.lines]


def test_it_has_never_more_lines_than_the_screen_and_always_the_selected_agent() -> None:
    rows = team()
    listing = Listing(rows, 80)
    for height in (1, 2, 3, 4, 5, 12, 22, 33, 34, 60):
        for row in rows:
            page = listing.page(row.name, height)
            assert len(page.lines) == len(page.names) == min(height, len(rows) + 3)
            assert page.names[page.at] == row.name


def test_what_is_hidden_is_counted() -> None:
    page = Listing(team(), 80).page("worker-20", 5)
    assert (text(page)[0], text(page)[-1]) == ("  … 13 more above", "  … 14 more below")


def test_ages_go_on_without_a_new_look() -> None:
    need = Need(NeedKind.QUESTION, "Tabs?", age=59.0)
    row = AgentRow("worker-1", Liveness.ACTIVE, "testing", (need,), last_seen=9.0)
    later = aged(row, 1.0)
    assert (later.last_seen, later.needs[0].age) == (10.0, 60.0)
    unknown = row._replace(last_seen=None, needs=(need._replace(age=None),))
    assert aged(unknown, 5.0) == unknown
    overview = Overview((), Totals(news_age=4.0))
    assert news_aged(overview, 2.0).totals.news_age == 6.0
    assert news_aged(Overview(), 2.0) == Overview()


def test_all_words_must_be_there_in_any_case() -> None:
    rows = team()
    assert [row.name for row in matching(rows, "HTTP pool")] == ["worker-2"]
    assert [row.name for row in matching(rows, "#7 dead")] == ["codex-7"]
    assert [row.name for row in matching(rows, "")] == [row.name for row in rows]
    assert matching(rows, "http nobody") == []
