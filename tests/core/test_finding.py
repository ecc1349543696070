"""A finding says how bad it is."""

from ghp_agents.core import finding
from ghp_agents.core.finding import Finding, Level


def test_each_word_makes_a_finding_of_its_level() -> None:
    findings = [
        finding.ok("git", "git 2.39.5"),
        finding.info("agent", "No agent is named.", "Name one."),
        finding.warning("outbox", "One record waits.", "Fold.", fixable=True),
        finding.error("config", "Line 3 is broken.", "Correct it."),
    ]
    assert findings == [
        Finding(Level.OK, "git", "git 2.39.5"),
        Finding(Level.INFO, "agent", "No agent is named.", "Name one."),
        Finding(Level.WARNING, "outbox", "One record waits.", "Fold.", fixable=True),
        Finding(Level.ERROR, "config", "Line 3 is broken.", "Correct it."),
    ]
