"""Capabilities: what an issue needs of who takes it."""

import re

from ghp_agents.issues.body_sections import section
from ghp_agents.issues.issue import Issue

LABEL = "needs:"
HEADING = "Capabilities"
_ANSWER_OF_NOBODY = {"_no response_"}  # what an issue form leaves in a field that was not filled in
_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


def needed(issue: Issue) -> frozenset[str]:
    """What an issue needs: its labels `needs:…`, and what its body lists under `Capabilities`."""
    labels = [label for label in issue.labels if label.lower().startswith(LABEL)]
    words = [label[len(LABEL) :] for label in labels]
    for line in section(issue.form, HEADING).splitlines() if issue.form else ():
        words += _MARK.sub("", line).split(",")
    tidy = {word.strip(" \t`*").casefold() for word in words}
    return frozenset(tidy - {""} - _ANSWER_OF_NOBODY)


def fits(issue: Issue, capabilities: tuple[str, ...]) -> bool:
    """Whether somebody with these capabilities can do it; who names none can do all."""
    return not capabilities or needed(issue) <= {word.casefold() for word in capabilities}
