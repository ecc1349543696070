"""Reading the ledger: the histories of all clones, in one order."""

from ghp_agents.clock import to_text
from ghp_agents.model import ledger
from ghp_agents.model.ledger import LedgerEntry
from ghp_agents.model.names import Timestamp
from ghp_agents.repository import StateRepository
from ghp_agents.store.refs import reading

_FORMAT = "%H%x1f%at%x1f%B%x1e"


def read(repository: StateRepository) -> list[LedgerEntry]:
    """All entries, in ledger order; what twins have in common counts once."""
    heads = [tip.oid for tip in reading.tips(repository)]
    if not heads:
        return []
    shown = repository.check(
        "log", "--no-show-signature", f"--format={_FORMAT}", "--stdin",
        stdin="".join(f"{oid}\n" for oid in heads).encode(),
    )
    found: list[LedgerEntry] = []
    for chunk in shown.text.split("\x1e"):
        if "\x1f" in chunk:
            oid, date, message = chunk.strip("\n").split("\x1f", 2)
            found += ledger.entries(oid, Timestamp(to_text(int(date))), message)
    return sorted(found, key=lambda entry: (entry.clock, entry.clone, entry.id))
