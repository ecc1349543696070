"""When a supervisor looks at the host, and that without one it asks nobody."""

import pytest

from ghp_agents.core.errors import UnknownError
from ghp_agents.runs import host_news
from ghp_agents.runs.host_news import EVERY, HostNews, HostWatch
from tests.support.runs import RUN, Shift


def test_without_a_host_nothing_is_known(shift: Shift) -> None:
    assert host_news.read(shift.app(), [RUN]) == {}


def test_the_host_is_asked_once_a_minute_and_what_is_known_outlives_an_error(
    shift: Shift, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[object] = [
        {3: HostNews("a")},
        {3: HostNews("a")},
        UnknownError("No route.", hint=""),
    ]

    def read(*_: object) -> object:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(host_news, "read", read)
    watch, ctx = HostWatch(), shift.app()
    assert watch.look(ctx, [], 0.0, shift.lines.append)
    assert not watch.look(ctx, [], EVERY - 1, shift.lines.append)
    assert len(answers) == 2
    assert not watch.look(ctx, [], EVERY, shift.lines.append)
    assert not watch.look(ctx, [], 2 * EVERY, shift.lines.append)
    assert watch.news == {3: HostNews("a")}
    assert shift.lines == ["Checks and reviews are unknown: No route."]
