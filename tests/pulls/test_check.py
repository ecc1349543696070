"""A check in words."""

import pytest

from ghp_agents.pulls.check import Check, block, red, tail


@pytest.mark.parametrize(
    ("check", "passed", "line"),
    [
        (Check("make test", 0), True, "`make test` passed"),
        (Check("make test", 2), False, "`make test` failed with 2"),
        (Check("make test", -9, "", True, 90), False, "`make test` did not end within 90 s"),
        (Check("echo `id`", 0), True, "`echo 'id'` passed"),
    ],
)
def test_a_check_says_how_it_ended(check: Check, passed: bool, line: str) -> None:
    assert (check.passed, check.line) == (passed, line)


def test_the_first_that_failed_is_red() -> None:
    good, bad, worse = Check("a", 0), Check("b", 1), Check("c", 2)
    assert red([good, bad, worse]) == bad
    assert red([good]) is None


@pytest.mark.parametrize(
    ("output", "shown"),
    [("one\ntwo\n", "one\ntwo"), ("\n".join("abc"), "…\nb\nc"), ("x" * 20, "…\n" + "x" * 10)],
)
def test_the_end_of_an_output_is_what_counts(output: str, shown: str) -> None:
    assert tail(output, limit=10, lines=2) == shown


def test_an_output_is_folded_in_a_fence_that_it_cannot_close() -> None:
    assert block(Check("make", 0, "a\n```\nb"), 100) == (
        "- `make` passed.\n  <details><summary>Output</summary>\n\n"
        "  ````\n  a\n  ```\n  b\n  ````\n  </details>"
    )
    assert block(Check("make", 0), 100) == "- `make` passed; it printed nothing."
