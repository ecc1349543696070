"""Open issues that two agents are assigned to: a person decides which of them keeps it."""

from collections.abc import Iterator

from ghp_agents.core.errors import GhpError
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Question
from ghp_agents.hotpath.quoting import named, phrase
from ghp_agents.issues.issue import Issue, short
from ghp_agents.ports import Context
from ghp_agents.state.cause import OWNERS
from ghp_agents.state.sender_budget import SenderBudget


def ask(ctx: Context, budget: SenderBudget) -> list[str]:
    """Ask about each such issue, once; return notes. A person beside an agent is nobody's fault."""
    wanted = [*_questions(ctx)]
    if not wanted:
        return []
    new = escalation.unasked(ctx.world, wanted)
    chosen = budget.first("issues with two agents", new, lambda _: ["all clones"])
    results = escalation.ask_all(ctx, [(question, "normal") for question in chosen])
    titles = [f"Asked {x.escalation.name}: {x.escalation.title}" for x in results if x.is_new]
    return [*titles, *(note for result in results for note in result.notes)]


def _questions(ctx: Context) -> Iterator[Question]:
    try:
        several = [issue for issue in ctx.tracker.known() if len(issue.assignees) > 1]
    except GhpError:
        return
    agents = ctx.store.snapshot().agents() if several else {}
    for issue in several:
        owners = tuple(sorted(name for name in issue.assignees if name in agents))
        if len(owners) > 1 and issue.state == "open":
            yield question(issue, owners)


def question(issue: Issue, owners: tuple[str, ...]) -> Question:
    """The question for a person, in the name of the first of the agents."""
    names = ", ".join(map(named, owners))
    text = (
        f"Which agent should have {short(issue)}?\n\n{names} are assigned to {short(issue)} "
        f"{phrase(issue.title)}, and an issue has one agent. The chosen one keeps it, "
        "with the claim; it is taken from the others."
    )
    return Question(owners[0], text, issue.number, owners, OWNERS, (issue.id, *owners))
