"""A part gets what its parameters name."""

from types import SimpleNamespace

import pytest

from ghp_agents.parts.call import call


def test_a_parameter_gets_the_value_of_its_name_and_a_default_holds_without_one() -> None:
    numbers = SimpleNamespace(number=2, noun="issue", unused=1)
    assert call("core.ids:count", numbers) == "2 issues"


def test_what_the_caller_lacks_is_an_error() -> None:
    with pytest.raises(AttributeError):
        call("core.ids:count", SimpleNamespace(noun="issue"))
