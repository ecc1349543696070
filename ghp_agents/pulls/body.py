"""The body of a pull request: what, why, and the evidence; all of it gathered by this program."""

from collections.abc import Sequence

from ghp_agents.consent import templates as repo_templates
from ghp_agents.core import templates
from ghp_agents.core.child_env import publishable
from ghp_agents.core.file_names import plain
from ghp_agents.core.ids import count
from ghp_agents.escalations.messages import who
from ghp_agents.handoffs import markdown
from ghp_agents.handoffs.evidence import Branch, EvidenceTopic, TopicFacts
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.handoffs.latest import latest
from ghp_agents.hotpath.quoting import phrase, when
from ghp_agents.issues.body_sections import outline
from ghp_agents.pulls import body_template
from ghp_agents.pulls.body_template import TEMPLATES, TemplateSection
from ghp_agents.pulls.check import Check, block
from ghp_agents.workspace import Workspace

TEMPLATE = "pull.md.j2"
OUTPUT = 4_000  # characters for the outputs of all checks; each gets its share
GOAL = 6_000
SUBJECTS, FILES = 20, 50


def body(
    ws: Workspace, about: EvidenceTopic, branch: Branch, facts: TopicFacts, checks: Sequence[Check]
) -> str:
    """Return the body; it uses the repository's own template if there is one."""
    sections = _sections(about, branch, facts, checks)
    own = repo_templates.text(ws, *TEMPLATES)
    if own is not None:
        return publishable(body_template.filled(own, sections), ws.environ)
    values = markdown.cleaned({section.key: section.text for section in sections})
    text = templates.render(TEMPLATE, values, own=repo_templates.templates(ws))
    return publishable(text.strip("\n") + "\n", ws.environ)


def _sections(
    about: EvidenceTopic, branch: Branch, facts: TopicFacts, checks: Sequence[Check]
) -> list[TemplateSection]:
    closes = f"Closes #{about.issue.number}" if about.issue else ""
    questions = [
        *markdown.answer_blocks(facts.escalations),
        *_list(markdown.question_lines(facts.escalations)),
    ]
    return [
        TemplateSection("what", "What", _what(about, branch)),
        TemplateSection("why", "Why", _why(about)),
        TemplateSection("evidence", "Evidence", _evidence(branch, checks)),
        TemplateSection("handoff", "Handoff", _handoff(facts.handoffs)),
        TemplateSection("questions", "Questions", "\n\n".join(questions)),
        TemplateSection("closes", "Issue", closes),
    ]


def _what(about: EvidenceTopic, branch: Branch) -> str:
    lead = f"Work of {about.actor} on {markdown.title(about.issue, about.number)}."
    commits = branch.history.commits
    subjects = [f"- {phrase(commit.subject)}" for commit in reversed(commits[:SUBJECTS])]
    more = branch.history.total - len(subjects)
    return "\n".join([lead, "", *subjects, *([f"- and {more} more"] if more > 0 else [])])


def _why(about: EvidenceTopic) -> str:
    if about.issue is None:
        return ""
    read = outline(about.issue.body)
    author = f'"{plain(about.issue.author)}"' if about.issue.author else "its author"
    rest = f"ghp agent-issue show {about.issue.number}"
    text = "\n\n".join(filter(None, [read.goal.strip(), read.acceptance.strip()]))
    return markdown.quoted(text, author, GOAL, rest)


def _evidence(branch: Branch, checks: Sequence[Check]) -> str:
    history = branch.history
    facts = f"{count(history.total, 'commit')}, {count(len(history.files), 'file')} changed."
    parts = [
        facts,
        "\n".join(_list(markdown.commit_lines(history.commits, history.total))),
        "\n".join(_list(markdown.file_lines(history.files[:FILES]))),
    ]
    share = max(500, OUTPUT // max(1, len(checks)))
    blocks = [block(check, share) for check in checks]
    parts.append("Checks:\n\n" + "\n".join(blocks) if blocks else "No checks are configured.")
    return "\n\n".join(filter(None, parts))


def _handoff(handoffs: Sequence[Handoff]) -> str:
    last = latest(handoffs)
    if last is None:
        return ""
    lead = f"{last.name}, by {who(last.by)}, {when(last.at)}."
    note = markdown.quoted(last.note, who(last.by), GOAL, f"ghp agent-resume --handoff {last.name}")
    return "\n\n".join(filter(None, [lead, note]))


def _list(lines: Sequence[str]) -> list[str]:
    return [f"- {line}" for line in lines]
