"""How near an issue is to earlier work."""

from ghp_agents.claims.affinity import MOST, experience, relations
from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues.issue import Issue


def issue(number: int, body: str = "", **fields: object) -> Issue:
    result = Issue(f"{number:08x}", IssueNumber(number), "An issue", body=body)
    return result._replace(**fields)  # type: ignore[arg-type]


def test_an_issue_is_related_to_its_epic_its_blockers_and_the_folders_of_its_scope() -> None:
    body = "## Scope\n\n- src/lexer/deep/tokens.py\n- docs/**\n- *.md\n- !src/x/y.py\n"
    related = relations(issue(3, body, parent=1, blocked_by=(2,)))
    assert related == {1, 2, "src/lexer", "docs"}
    assert relations(issue(1)) == set()


def test_who_did_an_issue_knows_it_and_its_relations_and_only_the_newest_count() -> None:
    assert experience([issue(3, "## Scope\nsrc/a/b.py", parent=1)]) == {3, 1, "src/a"}
    many = [issue(number) for number in range(1, MOST + 2)]
    assert experience(many) == set(range(2, MOST + 2))
