"""Who is who: agents, people and accounts."""

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.github.accounts import Names

NAMES = Names({"worker-1": "machine-1", "Bob B": "@Bob"}, "ada", "Ada Example")


@pytest.mark.parametrize(
    ("name", "login"),
    [
        ("worker-1", "machine-1"),
        ("worker-2", None),
        ("Ada Example", "ada"),
        ("Bob B", "Bob"),
        ("@carol", "carol"),
        ("Carol-7", "Carol-7"),
        ("dependabot[bot]", "dependabot[bot]"),
    ],
)
def test_a_name_has_an_account_or_none(name: str, login: str | None) -> None:
    assert NAMES.login(name) == login


@pytest.mark.parametrize("name", ["Eve Example", "@../x", "@", "@a/b", "Ünal"])
def test_a_person_without_an_account_is_refused(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        NAMES.login(name)
    assert str(caught.value) == (
        f"{name!r} is not a GitHub account, and no account is configured for it."
    )
    assert '"accounts"' in caught.value.hint


@pytest.mark.parametrize(
    ("login", "name"),
    [
        ("ada", "Ada Example"),
        ("ADA", "Ada Example"),
        ("machine-1", "worker-1"),
        ("bob", "Bob B"),
        ("carol", "@carol"),
    ],
)
def test_an_account_has_a_name(login: str, name: str) -> None:
    assert NAMES.person(login) == name


def test_an_account_of_several_agents_is_none_of_them() -> None:
    names = Names({"worker-1": "machine", "worker-2": "machine"})
    assert names.person("machine") == "@machine"
    assert (
        names._replace(accounts={**names.accounts, "Ann A": "machine"}).person("machine") == "Ann A"
    )


def test_a_person_who_is_called_like_an_agent_goes_by_the_account() -> None:
    names = Names({}, "ada", "ada")
    assert names.person("ada") == "@ada"
    assert names.login("ada") is None
