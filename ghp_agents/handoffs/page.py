"""The page of a handoff, for people and agents: the values of its template, and the text."""

from typing import Any

from ghp_agents.consent import templates as repo_templates
from ghp_agents.core import templates
from ghp_agents.core.child_env import publishable
from ghp_agents.core.file_names import as_code
from ghp_agents.escalations.messages import who
from ghp_agents.handoffs import markdown, sections
from ghp_agents.handoffs.facts import HandoffFacts
from ghp_agents.handoffs.handoff import NOTE_LIMIT, Handoff
from ghp_agents.issues import outsider_text
from ghp_agents.issues.issue import Issue
from ghp_agents.workspace import Workspace

TEMPLATE = "handoff.md.j2"


def page(ws: Workspace, facts: HandoffFacts, handoff: Handoff) -> str:
    """Render the page. Raises TemplateError for a repository's own template."""
    values = markdown.cleaned(_values(ws, facts, handoff))
    text = templates.render(TEMPLATE, values, own=repo_templates.templates(ws))
    return publishable(text.strip("\n") + "\n", ws.environ)


def _values(ws: Workspace, facts: HandoffFacts, handoff: Handoff) -> dict[str, Any]:
    """Return the template's values."""
    about, branch, topic_facts = facts.about, facts.branch, facts.topic_facts
    command = f"ghp agent-resume{f' --issue {about.number}' if about.number else ''}"
    return {
        "name": handoff.name,
        "kind": handoff.kind,
        "title": markdown.title(about.issue, about.number),
        "lead": f"{markdown.sentence(markdown.handed(handoff))}, {handoff.at}. "
        f"Continue with `{command}`.",
        "note": markdown.quoted(handoff.note, who(handoff.by), NOTE_LIMIT * 2, command),
        "words": sections.shown(handoff.sections),
        "words_by": f"{markdown.sentence(who(handoff.by))} wrote",
        "steps": list(handoff.next_steps),
        "issue": markdown.issue_values(_for_agents(ws, about.issue), about.blockers),
        "questions": markdown.question_lines(topic_facts.escalations),
        "answers": markdown.answer_blocks(topic_facts.escalations),
        "branch": markdown.branch_lines(branch) if ws.place.toplevel else [],
        "trunk": branch.trunk or "",
        "commits": markdown.commit_lines(branch.history.commits, branch.history.total),
        "files": markdown.file_lines(branch.history.files),
        "work": " ".join(filter(None, (_work_text(handoff, command), facts.work.shared))),
        "changes": markdown.change_lines(facts.work.patch.changes),
        "missing": markdown.missing_lines(facts.work.missing),
        "converted": [as_code(name) for name in facts.work.patch.converted],
        "rights": markdown.lock_lines(facts.locks),
        "learnt": markdown.note_lines(facts.learnt, ws.clock.now()),
        "ledger": markdown.ledger_lines(topic_facts.ledger),
        "earlier": markdown.handoff_lines(topic_facts.handoffs, ws.clock.now()),
        "notes": list(facts.notes),
    }


def _work_text(handoff: Handoff, command: str) -> str:
    if handoff.work is None:
        return "None: everything is committed."
    if not handoff.work.size:
        return "None of it could be stored."
    return f"{markdown.work_line(handoff.work)} `{command} --apply` restores it."


def _for_agents(ws: Workspace, issue: Issue | None) -> Issue | None:
    """Return the issue as agents may see it, even if a person hands it over."""
    return outsider_text.hidden(issue) if issue and ws.settings.lockdown else issue
