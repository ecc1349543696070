"""What a sync does on GitHub: without issues from there nothing is shown."""

from types import SimpleNamespace

from ghp_agents.parts.call import call
from tests.support.context import make_context


def test_nothing_is_shown_of_issues_that_could_not_be_read() -> None:
    values = SimpleNamespace(
        ctx=make_context(), hub=None, snapshot=None, views=(), kept={}, in_command=False
    )
    assert call("github.after_sync:show", values) == []
