"""Reading the ledger: the histories of all clones, in one order."""

from ghp_agents.model import ledger
from ghp_agents.model.ledger import LedgerEntry
from ghp_agents.repository import StateRepository
from ghp_agents.store.refs import reading

# Fields and commits end with NUL, the one character that no message can hold.
_FORMAT = "%H%x00%at%x00%B"


def read(repository: StateRepository) -> list[LedgerEntry]:
    """All entries, in ledger order; what twins have in common counts once."""
    heads = [tip.oid for tip in reading.tips(repository)]
    if not heads:
        return []
    # In our encoding, whatever a person set for their own log.
    args = ["log", "-z", "--no-show-signature", "--encoding=UTF-8", f"--format={_FORMAT}"]
    shown = repository.check(*args, "--stdin", stdin="".join(f"{oid}\n" for oid in heads).encode())
    fields = shown.text.split("\0")
    found = [
        entry
        for oid, date, message in zip(fields[::3], fields[1::3], fields[2::3], strict=False)
        for entry in ledger.entries(oid, reading.timestamp(date), message)
    ]
    return sorted(found, key=lambda entry: (entry.clock, entry.clone, entry.id))
