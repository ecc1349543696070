"""The report of a time, as JSON."""

from typing import TypedDict


class ReportItemJson(TypedDict):
    """One thing that happened or waits: an issue, a pull request, a question, an agent, a note."""

    id: str
    title: str | None
    state: str | None
    text: str | None
    result: str | None
    command: str | None
    by: str | None
    byPerson: bool
    issue: int | None
    at: str | None
    options: list[str]


class ReportJson(TypedDict):
    """What happened since a time. `counts` has the number of each section; a section lists at most
    200."""

    since: str
    until: str
    counts: dict[str, int]
    waiting: list[ReportItemJson]
    sentBack: list[ReportItemJson]
    mergeable: list[ReportItemJson]
    merged: list[ReportItemJson]
    answered: list[ReportItemJson]
    opened: list[ReportItemJson]
    closed: list[ReportItemJson]
    handedOver: list[ReportItemJson]
    died: list[ReportItemJson]
    idle: list[ReportItemJson]
    learnt: list[ReportItemJson]
