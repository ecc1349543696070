"""The doctor's check of the agents' cards."""

from collections.abc import Iterator

from ghp_agents.cards import read_cards
from ghp_agents.cards.card import FOLDER
from ghp_agents.core.file_names import plain
from ghp_agents.core.finding import Finding, info, ok, warning
from ghp_agents.core.ids import count
from ghp_agents.git import default_branch
from ghp_agents.hotpath.quoting import clean
from ghp_agents.settings import agreement, consent
from ghp_agents.settings import load as configuration
from ghp_agents.workspace import Workspace

CODE = "cards"


def check(ws: Workspace) -> Iterator[Finding]:
    """Report cards on main that do not count, and those that are not there yet. Raises GhpError."""
    line = default_branch.find(ws.folder, remote=ws.settings.remote, named=ws.settings.trunk)
    on_main: dict[str, str] = {}
    if line:
        on_main = read_cards.texts(ws.folder, line.ref)
        answer = agreement.read(ws.environ, ws.common_dir)
        cards = configuration.cards(ws.ground, line, answer)
        for problem in cards.problems:
            rest = "The card does not count." if problem.is_ignored else "It is left out."
            yield warning(
                CODE, clean(f"{problem.told}. {rest}"),
                "`docs/cards.md` lists the fields.",
            )  # fmt: skip
        for card in cards.by_agent.values():
            if card.grants and not card.approved:
                text = f"Nobody in this clone has approved {plain(card.path)} on main."
                yield warning(CODE, text, consent.HINT)
        names = [name for name, card in cards.by_agent.items() if not card.broken]
        if names:
            yield ok(CODE, f"{count(len(names), 'card')}: {', '.join(names)}.")
    for path in sorted((ws.root / FOLDER).glob("*.md"))[: read_cards.MOST]:
        name = f"{FOLDER}/{path.name}"
        if name not in on_main:
            yield info(CODE, f"{plain(name)} takes effect once it is on main.")
