"""What long work does is noted for whoever looks."""

import pytest

from ghp_agents.core import progress
from ghp_agents.core.progress import DETAIL_LIMIT, Progress


def test_where_nobody_looks_nothing_happens() -> None:
    with progress.step("Checking"):
        progress.note("1 of 2")
        progress.note_output(b"line\n")
        progress.hide()
    assert not progress.is_shown()


def test_a_step_ends_with_what_was_shown_before() -> None:
    shown = Progress("Merging", lambda: None)
    with progress.shown(shown):
        progress.note("#1")
        with progress.step("`pytest`"):
            assert (shown.what, shown.detail, shown.steps) == ("`pytest`", "", 1)
            progress.note("2 passed")
        assert (shown.what, shown.detail, shown.steps) == ("Merging", "#1", 2)
    assert not progress.is_shown()


@pytest.mark.parametrize(
    ("some", "detail"),
    [
        (b"one\ntwo\nthr", "two"),
        (b"one\n\n  \n", "one"),
        (b"10%\r20%\r30", "20%"),
        (b"no end", "before"),
        (b"", "before"),
        (b"\xff\xfe\n", "\ufffd\ufffd"),
        (b"x" * 9_999 + b"\n", "x" * DETAIL_LIMIT),
    ],
)
def test_the_last_whole_line_of_an_output_is_shown(some: bytes, detail: str) -> None:
    shown = Progress("`pytest`", lambda: None)
    with progress.shown(shown):
        progress.note("before")
        progress.note_output(some)
    assert shown.detail == detail


def test_it_is_hidden_before_something_is_printed() -> None:
    hidden: list[bool] = []
    with progress.shown(Progress("Merging", lambda: hidden.append(True))):
        progress.hide()
    progress.hide()
    assert hidden == [True]


def test_what_runs_is_bounded() -> None:
    shown = Progress("x" * 9_999, lambda: None)
    assert len(shown.what) == progress.WHAT_LIMIT
    with progress.shown(shown), progress.step("y" * 9_999):
        assert shown.what == "y" * progress.WHAT_LIMIT
