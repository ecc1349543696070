"""Capabilities: what an issue requires of the agent that claims it."""

import re

from ghp_agents.issues.body_sections import section
from ghp_agents.issues.issue import Issue

LABEL = "needs:"
HEADING = "Capabilities"
_NO_RESPONSE = {"_no response_"}  # what an issue form writes into an empty field
_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


def needed(issue: Issue) -> frozenset[str]:
    """The issue's labels `needs:…`, and what its body lists under `Capabilities`."""
    labels = [label for label in issue.labels if label.lower().startswith(LABEL)]
    words = [label[len(LABEL) :] for label in labels]
    for line in section(issue.form, HEADING).splitlines() if issue.form else ():
        words += _MARK.sub("", line).split(",")
    tidy = {word.strip(" \t`*").casefold() for word in words}
    return frozenset(tidy - {""} - _NO_RESPONSE)


def missing(issue: Issue, capabilities: tuple[str, ...]) -> list[str]:
    """What the issue requires and these capabilities lack. An empty list suffices for all."""
    wanted = needed(issue) if capabilities else frozenset()
    return sorted(wanted.difference(word.casefold() for word in capabilities)) if wanted else []


def fits(issue: Issue, capabilities: tuple[str, ...]) -> bool:
    """Whether these capabilities suffice for the issue."""
    return not missing(issue, capabilities)
