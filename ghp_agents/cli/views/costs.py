"""Costs as two tables, by agent and by issue, and as JSON."""

from ghp_agents.cli import output
from ghp_agents.core.clock import ago, to_text
from ghp_agents.hotpath.quoting import file, one_line, phrase
from ghp_agents.reports.costs import Costs
from ghp_agents.state.usage import NOTHING, Use

AMOUNTS = ("COST", "INPUT", "CACHED", "OUTPUT", "API TIME")
MODEL_SHOWN = 30  # characters
TITLE_SHOWN = 60
NONE = "-"


def show(costs: Costs) -> None:
    """Print the tables, and who reports nothing."""
    output.data(
        output.dated(f"Since {to_text(costs.since)} ({ago(costs.until - costs.since)} ago)")
    )
    rows = [
        (agent.name, *amounts(agent.use), file(one_line(agent.client, MODEL_SHOWN)),
         file(one_line(agent.model, MODEL_SHOWN)) if agent.model else "")
        for agent in costs.agents
        if agent.use != NOTHING
    ]  # fmt: skip
    total = [("total", *amounts(costs.total), "", "")] if len(rows) > 1 else []
    if rows:
        output.data("\n")
        styles = [*[""] * len(rows), *["bold"] * len(total)]
        output.table(("AGENT", *AMOUNTS, "CLIENT", "MODEL"), [*rows, *total], styles)
    if costs.issues:
        output.data("\n")
        issues = [
            (f"#{issue.issue}" if issue.issue else "other", *amounts(issue.use),
             ", ".join(issue.agents), phrase(issue.title, TITLE_SHOWN) if issue.title else "")
            for issue in costs.issues
        ]  # fmt: skip
        output.table(("ISSUE", *AMOUNTS, "AGENTS", "TITLE"), issues)
    silent = [agent for agent in costs.agents if agent.use == NOTHING]
    if silent:
        named = ", ".join(f"{x.name} ({file(one_line(x.client or 'agent', 30))})" for x in silent)
        output.say(f"Not reported by {named}.")
    if costs.total.usd is not None:
        output.say("COST is what the clients estimate, at list prices.")


def amounts(use: Use) -> tuple[str, ...]:
    """The cells of AMOUNTS; `-` for what is not reported."""
    cached = None
    if use.cached_tokens is not None and use.input_tokens:
        cached = f"{min(1.0, use.cached_tokens / use.input_tokens):.0%}"
    seconds = use.api_seconds
    cells = (
        None if use.usd is None else money(use.usd),
        None if use.input_tokens is None else tokens(use.input_tokens),
        cached,
        None if use.output_tokens is None else tokens(use.output_tokens),
        None if seconds is None else ago(seconds),
    )
    return tuple(cell or NONE for cell in cells)


def words(use: Use) -> str:
    """The amounts in a line: `$1.23, 12k tokens in (90% cached), 3.4k out, 4 min of API time`."""
    usd, read, cached, written, seconds = amounts(use)
    parts = (
        (usd, usd),
        (read, f"{read} tokens in" + (f" ({cached} cached)" if cached != NONE else "")),
        (written, f"{written} out" if read != NONE else f"{written} tokens out"),
        (seconds, f"{seconds} of API time"),
    )
    return ", ".join(text for amount, text in parts if amount != NONE) or "not reported"


def money(usd: float) -> str:
    """An amount of US dollars, such as `$1.23`."""
    return "<$0.01" if 0 < usd < 0.005 else f"${usd:,.2f}"


def tokens(number: int) -> str:
    """A number of tokens, such as `950`, `12k` and `3.4M`."""
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            short = number / size
            return f"{short:.1f}{mark}" if short < 10 else f"{short:.0f}{mark}"
    return str(number)
