"""The fields of a job in an issue's body: when it is due, what it needs to read, what it delivers.

A field is a section, as issue forms write it. Others write bodies: what is no date, path or number
is ignored, and lists are bounded.
"""

import datetime
import re

from ghp_agents.issues.body_sections import section
from ghp_agents.issues.issue import Issue

DUE, CONTEXT, DELIVERABLES = "Due", "Context", "Deliverables"
MOST = 100  # entries of a list
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_PATH = re.compile(r"[\w.@+][\w./@+-]{0,299}")
_MARK = re.compile(r"(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")


def due(issue: Issue) -> str:
    """The date by which it must be done, as 2026-12-31; empty without one."""
    if "due" not in issue.form.casefold():
        return ""  # most issues: no need to parse
    match = _DATE.search(section(issue.form, DUE) or section(issue.form, f"{DUE} date"))
    if not match:
        return ""
    try:
        return datetime.date.fromisoformat(match[0]).isoformat()
    except ValueError:
        return ""


def listed(issue: Issue, heading: str) -> tuple[str, ...]:
    """The entries of a list below a heading of the body, without marks and backticks."""
    lines = section(issue.form, heading).splitlines() if issue.form else []
    entries = (_MARK.sub("", line.strip(), count=1).strip("` ") for line in lines[:MOST])
    return tuple(entry for entry in entries if entry and entry.casefold() != "_no response_")


def deliverables(issue: Issue) -> tuple[str, ...]:
    """The paths that must exist before the issue is done, relative to the repository's root. Prose
    among them is ignored."""
    entries = (entry.removeprefix("./") for entry in listed(issue, DELIVERABLES))
    return tuple(dict.fromkeys(entry.rstrip("/") for entry in entries if _is_path(entry)))


def _is_path(entry: str) -> bool:
    """Whether an entry is a plain path: one word with a folder or an extension, not outside."""
    if not _PATH.fullmatch(entry) or ".." in entry.split("/"):
        return False
    return "/" in entry or "." in entry.strip(".")
