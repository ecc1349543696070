"""Messages about a claim, for people."""

from ghp_agents.claims import service as services
from ghp_agents.claims.service import ClaimResult
from ghp_agents.cli import issue_view, output
from ghp_agents.hotpath.quoting import named, reason


def say_claimed(claimed: ClaimResult) -> None:
    """Print the result of a claim."""
    name, lease = issue_view.name(claimed.issue), claimed.lease
    if claimed.how == services.MINE:
        rest = " Its assignment was missing and is there now." if claimed.mended else ""
        output.say(f"{name} is yours already, since {lease.acquired_at}.{rest}")
    elif claimed.how == "claim":
        output.done(f"{name} is yours.")
    else:
        before = named(claimed.previous or "")
        output.done(f"{name} is yours; it was {before}'s.{reason(lease.reason)}")
    if claimed.passed_over:
        issue_view.say_passed_over(claimed.passed_over)
    wide = issue_view.too_wide(claimed.issue)
    if wide:
        output.warn(
            f"Its scope lists {wide}, which covers everything and so protects nothing.",
            "Name the folders and files under `Scope`.",
        )
    if claimed.waits_for:
        output.warn(
            f"It waits for {', '.join(claimed.waits_for)}.",
            "`ghp agent-claim --next` finds one that can go on.",
        )
