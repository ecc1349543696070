"""What options take: lengths of time."""

import click
import pytest

from ghp_agents.cli.params import Duration, Seconds


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
