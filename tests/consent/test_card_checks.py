"""The doctor names cards that do not count."""

from pathlib import Path

from tests.support.doctor import doctor, finding, findings, lines
from tests.support.git import commit

CARDS = {
    ".ghp/agents/good.md": "---\nmodle: opus\n---\n",
    ".ghp/agents/bad.md": "---\nkind: evil\n---\n",
    ".ghp/agents/strong.md": "---\ngithub: true\n---\n",
}
FIELDS = "`docs/cards.md` lists the fields."


def test_cards_that_do_not_count_are_named(repo: Path) -> None:
    commit(repo, CARDS)
    (repo / ".ghp/agents/new.md").write_text("---\n---\n")
    assert findings(repo)["cards"] == [
        finding(
            "warning",
            ".ghp/agents/bad.md, line 2 on main: `kind` is 'evil', not interactive or background. "
            "The card does not count.",
            FIELDS,
        ),
        finding(
            "warning",
            ".ghp/agents/good.md, line 2 on main: `modle` is not known (did you mean `model`?). "
            "It is left out.",
            FIELDS,
        ),
        finding(
            "warning",
            "Nobody in this clone has approved .ghp/agents/strong.md on main.",
            "A person can review and approve it with `ghp agent-trust`.",
        ),
        finding("info", ".ghp/agents/new.md takes effect once it is on main.", ""),
    ]
    assert lines(doctor(repo).out, "✓ 2 cards") == ["✓ 2 cards: good, strong."]
