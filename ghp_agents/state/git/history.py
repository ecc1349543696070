"""Reading the ledger: the histories of all clones, in one order."""

from collections.abc import Sequence

from ghp_agents.state import ledger
from ghp_agents.state.git import read
from ghp_agents.state.join import Tip
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.state.private_repo import StateRepository

# Fields and commits end with NUL, the one character that no message can hold.
_FORMAT = "%H%x00%at%x00%B"


def read_entries(repository: StateRepository, after: Sequence[Tip] = ()) -> list[LedgerEntry]:
    """All entries, in ledger order, without the histories that end at `after`; what twins have in
    common counts once."""
    heads = [tip.oid for tip in read.tips(repository)]
    if not heads:
        return []
    span = "".join(f"{oid}\n" for oid in (*heads, *(f"^{tip.oid}" for tip in after)))
    # In our encoding, whatever a person set for their own log.
    args = ["log", "-z", "--no-show-signature", "--encoding=UTF-8", f"--format={_FORMAT}"]
    # An end that was known may be gone: its clone was compacted.
    shown = repository.check(*args, "--ignore-missing", "--stdin", stdin=span.encode())
    fields = shown.text.split("\0")
    found = [
        entry
        for oid, date, message in zip(fields[::3], fields[1::3], fields[2::3], strict=False)
        for entry in ledger.entries(oid, read.timestamp(date), message)
    ]
    return sorted(found, key=lambda entry: (entry.clock, entry.clone, entry.id))
