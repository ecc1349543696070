"""Converts GitHub's pull requests and their checks to ours; pure."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ghp_agents.core.ids import NUMBERS_END, Actor, Timestamp, digest, issue_of_branch, one_line
from ghp_agents.github import marker as github_marker
from ghp_agents.pulls.pull import BODY_LIMIT, Checks, Pull, Review, Sent

_CLOSES = re.compile(
    r"^(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+#(\d+)[ \t]*$", re.I | re.M
)
OUTPUT_LIMIT = 8_000  # characters of what all failing checks say
_GREEN = ("success", "neutral", "skipped")

Believed = Callable[[str], bool]  # whether an account has write permission, so its line counts


def pull(raw: Mapping[str, Any], believed: Believed) -> Pull:
    """Convert a pull request from GitHub's JSON. Raises KeyError, TypeError if it is none."""
    login = str((raw.get("user") or {}).get("login") or "ghost")
    text, mark = github_marker.split_marker((raw.get("body") or "").replace("\r\n", "\n"))
    ours = mark is not None and bool(mark.by) and believed(login)
    branch = str(raw["head"]["ref"])
    is_merged = bool(raw.get("merged_at"))
    merged_as = raw.get("merge_commit_sha") if is_merged else None
    return Pull(
        number=int(raw["number"]),
        branch=branch,
        base=str(raw["base"]["ref"]),
        head=str(raw["head"]["sha"]),
        title=one_line(str(raw["title"]), 256),
        body=text if ours else (raw.get("body") or ""),
        issue=_issue(text, branch),
        draft=bool(raw.get("draft")) and not is_merged,
        state="merged" if is_merged else str(raw["state"]),
        author=mark.by if ours and mark else f"@{login}",
        created_at=Timestamp(str(raw["created_at"])),
        updated_at=Timestamp(str(raw["updated_at"])),
        merged_as=str(merged_as) if merged_as else None,
        url=str(raw.get("html_url") or ""),
        sent=_sent(mark) if ours and mark else None,
    )


def review(raw: Mapping[str, Any]) -> Review | None:
    """Convert a review from GitHub's JSON; None for one that neither approves nor requests
    changes, or was dismissed."""
    login = (raw.get("user") or {}).get("login")
    approves = {"APPROVED": True, "CHANGES_REQUESTED": False}.get(str(raw.get("state")))
    if not login or approves is None:
        return None
    return Review(
        Actor(f"@{login}", is_person=True), str(raw.get("commit_id")), approves,
        str(raw.get("body") or ""), Timestamp(str(raw.get("submitted_at") or "")),
    )  # fmt: skip


def _sent(mark: github_marker.Mark) -> Sent | None:
    return Sent(mark.head, mark.sender or mark.actor) if mark.head else None


def _issue(body: str, branch: str) -> int | None:
    """The issue that it closes. Our reference is the last one, on a line of its own."""
    named = _CLOSES.findall(body)
    number = int(named[-1]) if named else issue_of_branch(branch)
    return number if number and number < NUMBERS_END else None


def signed(body: str, branch: str, by: Actor, sent: Sent | None = None, account: str = "") -> str:
    """A body with our line, within GitHub's limit; `sent` is what `agent-finish` sent."""
    mark = github_marker.mark(digest("pull", branch), by, account=account)
    if sent:
        sender = sent.by._replace(name=one_line(sent.by.name, github_marker.NAME_LIMIT))
        mark = mark._replace(head=sent.head, sender=sender)
    text, room = github_marker.plain(body), BODY_LIMIT - len(github_marker.signed("", mark)) - 2
    return github_marker.signed(text if len(text) <= room else text[: room - 2] + "\n…", mark)


def checks(runs: Iterable[Mapping[str, Any]], statuses: Iterable[Mapping[str, Any]]) -> Checks:
    """The combined result of check runs and statuses. The newest of each name in one suite counts:
    two workflows may each have a job of the same name."""
    conclusions: dict[tuple[str, object], str] = {}
    outputs: dict[tuple[str, object], str] = {}
    for run in sorted(runs, key=lambda check_run: int(check_run.get("id") or 0)):
        done = run.get("status") == "completed"
        name = (str(run.get("name")), (run.get("check_suite") or {}).get("id"))
        conclusions[name] = str(run.get("conclusion")) if done else "pending"
        outputs[name] = _output(run)
    for status in reversed(list(statuses)):  # GitHub lists the newest first
        conclusions[str(status.get("context")), "status"] = str(status.get("state"))
    if not conclusions:
        return Checks()
    states = {_state(conclusion) for conclusion in conclusions.values()}
    state = next(name for name in ("red", "pending", "green") if name in states)
    results = [(name, conclusion) for (name, _), conclusion in conclusions.items()]
    order = sorted(results, key=lambda pair: (_ORDER[_state(pair[1])], pair[0]))
    failed = [
        f"{one_line(name[0], 80)}: {conclusion}\n{outputs.get(name, '')}".strip()
        for name, conclusion in conclusions.items()
        if _state(conclusion) == "red"
    ]
    details = tuple((one_line(name, 80), conclusion) for name, conclusion in order)
    return Checks(state, details, output="\n\n".join(failed)[:OUTPUT_LIMIT])


def as_check_run(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run of a workflow in the form of a check run. The newest of a workflow for one event
    counts."""
    fields = {name: run.get(name) for name in ("id", "name", "status", "conclusion", "html_url")}
    return {**fields, "check_suite": {"id": f"{run.get('workflow_id')}/{run.get('event')}"}}


def _output(run: Mapping[str, Any]) -> str:
    """What a check run says, and where its log is."""
    output = run.get("output") or {}
    parts = [str(output.get(name) or "") for name in ("title", "summary", "text")]
    return "\n".join(filter(None, [*parts, str(run.get("html_url") or "")]))


_ORDER = {"red": 0, "pending": 1, "green": 2}


def _state(conclusion: str) -> str:
    if conclusion in _GREEN:
        return "green"
    return "pending" if conclusion in ("pending", "expected") else "red"
