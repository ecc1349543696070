"""What options take: lengths of time."""

import json
from pathlib import Path

import click
import pytest

from ghp_agents.cli.params import Duration, Seconds, limited
from tests.support.ghp import invoke


@pytest.mark.parametrize(
    ("kind", "text", "seconds"),
    [
        (Duration(), "30m", 1800.0),
        (Duration(), "1.5h", 5400.0),
        (Seconds(), "0", 0.0),
        (Seconds(), "2.5", 2.5),
    ],
)
def test_a_length_of_time_is_so_many_seconds(
    kind: Duration | Seconds, text: str, seconds: float
) -> None:
    assert kind.convert(text, None, None) == seconds


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Duration(), "soon"),
        (Duration(), "nan"),
        (Duration(), "-1m"),
        (Seconds(), "soon"),
        (Seconds(), "nan"),
        (Seconds(), "-nan"),
        (Seconds(), "-1"),
    ],
)
def test_what_is_no_length_of_time_is_refused(kind: Duration | Seconds, text: str) -> None:
    with pytest.raises(click.BadParameter):
        kind.convert(text, None, None)


def test_a_limit_takes_the_first_and_says_how_many_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert limited("abc", 2) == ["a", "b"]
    assert capsys.readouterr().err == "The first 2 of 3; --limit shows more.\n"
    assert (limited("abc", 3), limited("abc", None), capsys.readouterr().err) == (
        ["a", "b", "c"], ["a", "b", "c"], ""
    )  # fmt: skip


@pytest.mark.parametrize("words", ["agent-issues", "agent-pulls", "agent-notes list"])
def test_each_list_has_a_limit(repo: Path, words: str) -> None:
    for title in ("One", "Two", "Three"):
        invoke(["agent-issue", "new", title], repo)
    code, out, err = invoke(f"{words} -L 1 --json", repo)
    assert (code, len(json.loads(out)) <= 1) == (0, True)
    assert err == ("The first 1 of 3; --limit shows more.\n" if words == "agent-issues" else "")
