"""Which subjects are interrupts."""

import pytest

from ghp_agents.cli.messages import interrupt


@pytest.mark.parametrize(
    ("subject", "meant"),
    [
        ("@interrupt", True),
        ("@interrupt Wrong approach", True),
        ("Use @interrupt with care", False),
        ("@interrupts", False),
        ("", False),
    ],
)
def test_the_first_word_decides(subject: str, meant: bool) -> None:
    assert interrupt.is_meant(subject) == meant
