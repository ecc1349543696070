"""Which project this is."""

import pytest

from ghp_agents.notes import project


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/Acme/Shop.git", "https://token@github.com/Acme/Shop",
        "git@github.com:Acme/Shop.git", "ssh://git@github.com:22/Acme/Shop/",
    ],
)  # fmt: skip
def test_one_address_in_other_words_is_one_project(address: str) -> None:
    assert project.name(address) == "shop"
    assert project.scope(address) == project.scope("https://github.com/Acme/Shop")


def test_projects_of_one_name_share_no_place() -> None:
    one, other = "https://github.com/acme/shop", "https://github.com/other/shop"
    assert project.name(one) == project.name(other)
    assert project.scope(one) != project.scope(other)


def test_a_path_is_an_address_and_a_project_without_one_is_local() -> None:
    assert project.name("/srv/git/shop.git") == project.name("../shop.git") == "shop"
    assert (project.name(None), project.scope(None)) == ("local", "local")
    assert project.name("/") == "local"
