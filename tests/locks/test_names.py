"""The name of a lock says what it is for."""

from ghp_agents.locks.names import claim_name, claimed_issue


def test_a_claim_is_the_right_of_an_issue() -> None:
    assert claim_name(12) == "issue/12"
    names = ("issue/12", "issue/e-3f9a", "issue/", "trunk", "numbers", "path/12", "issue/²")
    assert [claimed_issue(name) for name in names] == [12, None, None, None, None, None, None]
