"""Reads the ledger: the histories of all clones, in one order."""

from collections.abc import Sequence

from ghp_agents.state import ledger
from ghp_agents.state.codec import order
from ghp_agents.state.git import read
from ghp_agents.state.join import Tip
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.state.private_repo import StateRepository

# Fields and commits end with NUL, which no message can contain.
_FORMAT = "%H%x00%at%x00%B"


def read_entries(repository: StateRepository, after: Sequence[Tip] = ()) -> list[LedgerEntry]:
    """All entries in ledger order, without the histories that end at `after`. Entries that twins
    share count once."""
    heads = [tip.oid for tip in read.tips(repository)]
    if not heads:
        return []
    span = "".join(f"{oid}\n" for oid in (*heads, *(f"^{tip.oid}" for tip in after)))
    # in our encoding, whatever the person's log settings are
    args = ["log", "-z", "--no-show-signature", "--encoding=UTF-8", f"--format={_FORMAT}"]
    # A known tip may be gone, because its clone was compacted.
    shown = repository.check(*args, "--ignore-missing", "--stdin", stdin=span.encode())
    fields = shown.text.split("\0")
    entries = [
        entry
        for oid, date, message in zip(fields[::3], fields[1::3], fields[2::3], strict=False)
        for entry in ledger.entries(oid, read.timestamp(date), message)
    ]
    return sorted(entries, key=order)
