"""The lines of the list for a size of the terminal. Pure: values in, lines out."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from textual.content import Content

from ghp_agents.cli.watch.look import Detail
from ghp_agents.hotpath.quoting import clean, seen_line
from ghp_agents.presence.liveness import Liveness
from ghp_agents.reports.overview import AgentRow, Group, Need, NeedKind, Overview, Totals

HEADINGS = {Group.NEEDS_YOU: "NEEDS YOU", Group.WORKING: "WORKING", Group.IDLE: "IDLE"}
MARKS = {
    NeedKind.QUESTION: ("?", "ansi_cyan"),
    NeedKind.PERMISSION: ("!", "ansi_yellow"),
    NeedKind.CONFLICT: ("!", "ansi_yellow"),
    NeedKind.CHECKS: ("!", "ansi_yellow"),
    NeedKind.DEAD: ("✗", "ansi_red"),
    NeedKind.PULL: ("✓", "ansi_green"),
}
LIVENESS_STYLES = {Liveness.STALE: "ansi_yellow", Liveness.DEAD: "ansi_red"}
NAME_MOST = 20  # cells of a name
NAME_LEAST = 12
TITLE_LEAST = 16  # cells; a narrower title is left out
BRANCH_FROM = 140  # columns from which the branch is shown
TEXT_MOST = 300  # characters of others' text


class Page(NamedTuple):
    """What the list shows."""

    lines: tuple[Content, ...]
    names: tuple[str, ...]  # the agent of each line; empty for a heading


def matching(rows: Iterable[AgentRow], words: str) -> list[AgentRow]:
    """The rows that have all of these words somewhere, in any case."""
    wanted = words.casefold().split()
    return [row for row in rows if all(word in _haystack(row) for word in wanted)]


def _haystack(row: AgentRow) -> str:
    needs = (f"{need.kind} {need.text} {need.id}" for need in row.needs)
    issue = f"#{row.issue}" if row.issue else ""
    known = (row.name, row.liveness.value, row.status, issue, row.title, row.branch, row.clone)
    return " ".join((*known, row.action, row.error, *needs)).casefold()


def page(
    rows: Sequence[AgentRow], selected: str, width: int, height: int, elapsed: float = 0.0
) -> Page:
    """The part of the list around the selected agent. `elapsed`: seconds since it was read."""
    widths = _widths(rows, width)
    lines: list[tuple[Content, str]] = []
    group: Group | None = None
    for row in rows:
        if row.group is not group:
            group = row.group
            lines.append((Content.styled(HEADINGS[group], "bold dim"), ""))
        lines.append((_line(row, widths, elapsed), row.name))
    at = next((at for at, (_, name) in enumerate(lines) if name and name == selected), 0)
    shown = _around(lines, at, max(1, height))
    return Page(
        tuple(
            (Content.styled(line.plain, "reverse") if name and name == selected else line).truncate(
                width, pad=bool(name)
            )
            for line, name in shown
        ),
        tuple(name for _, name in shown),
    )


def _around(
    lines: Sequence[tuple[Content, str]], at: int, height: int
) -> list[tuple[Content, str]]:
    """At most `height` lines with the line `at`; what is hidden is counted at the edges."""
    if len(lines) <= height:
        return [*lines]
    if height < 4:
        return [*lines[at : at + height]]
    first = max(0, min(at - height // 2, len(lines) - height))
    shown = [*lines[first : first + height]]
    above = sum(1 for _, name in lines[: first + 1] if name)
    below = sum(1 for _, name in lines[first + height - 1 :] if name)
    if first > 0:
        shown[0] = (Content.styled(f"  … {above} more above", "dim"), "")
    if first + height < len(lines):
        shown[-1] = (Content.styled(f"  … {below} more below", "dim"), "")
    return shown


class _Widths(NamedTuple):
    """Cells of each column; 0: left out."""

    name: int
    issue: int
    title: int
    what: int
    branch: int


def _widths(rows: Sequence[AgentRow], width: int) -> _Widths:
    longest = max((len(row.name) for row in rows), default=0)
    name = min(max(longest, 4), NAME_MOST if width >= 80 else NAME_LEAST)
    issue = max((len(str(row.issue)) + 1 for row in rows if row.issue), default=0)
    branch = max((len(row.branch) for row in rows), default=0) if width >= BRANCH_FROM else 0
    branch = min(branch, 40)
    fixed = 2 + name + sum(part + 2 for part in (issue, branch) if part) + 2 + 4
    room = max(0, width - fixed)
    has_title = any(row.title for row in rows)
    title = room * 45 // 100 if has_title else 0
    if title < TITLE_LEAST:
        title = 0
    return _Widths(name, issue, title, max(0, room - 2 - (title + 2 if title else 0)), branch)


def _line(row: AgentRow, widths: _Widths, elapsed: float) -> Content:
    mark, style = MARKS[row.needs[0].kind] if row.needs else _mark(row)
    age = "" if row.seen is None else short(row.seen + elapsed)
    cells = [
        Content.styled(mark.ljust(2), style),
        _cell(row.name, widths.name, "bold"),
        _cell(f"#{row.issue}" if row.issue else "", widths.issue, "dim"),
        _cell(row.title, widths.title),
        _cell(_what(row, elapsed), widths.what),
        _cell(row.branch, widths.branch, "dim"),
        Content.styled(age.rjust(4), LIVENESS_STYLES.get(row.liveness, "dim")),
    ]
    gaps = [cell + "  " for cell in cells[1:-1] if cell.cell_length]
    return Content("").join([cells[0], *gaps, cells[-1]])


def _mark(row: AgentRow) -> tuple[str, str]:
    return ("~", "ansi_yellow") if row.liveness is Liveness.STALE else ("", "")


def _cell(text: str | Content, width: int, style: str = "") -> Content:
    if width <= 0:
        return Content("")
    shown = Content.styled(seen_line(text, TEXT_MOST), style) if isinstance(text, str) else text
    return shown.truncate(width, ellipsis=True, pad=True)


def _what(row: AgentRow, elapsed: float) -> Content:
    if row.needs:
        need = row.needs[0]
        style = MARKS[need.kind][1]
        more = f" (+{len(row.needs) - 1})" if len(row.needs) > 1 else ""
        text = seen_line(need.text, TEXT_MOST)
        return Content.assemble((why(need, elapsed) + more, style), f"  {text}" if text else "")
    action = seen_line(row.action, TEXT_MOST)
    state = "" if row.liveness is Liveness.ACTIVE else f"{row.liveness.value}  "
    style = LIVENESS_STYLES.get(row.liveness, "dim")
    status = seen_line(row.status, 40)
    return Content.assemble((state, style), status, (f"  {action}" if action else "", "dim"))


def why(need: Need, elapsed: float = 0.0) -> str:
    """Why an agent needs a person, in a few words."""
    age = "" if need.age is None else f" {short(need.age + elapsed)}"
    words = {
        NeedKind.QUESTION: f"{'' if need.urgency == 'normal' else need.urgency} question",
        NeedKind.PERMISSION: "waits for you",
        NeedKind.CONFLICT: f"conflict {need.id}",
        NeedKind.CHECKS: f"checks failed {need.id}",
        NeedKind.DEAD: "dead",
        NeedKind.PULL: f"{need.id} waits to be merged",
    }
    return words[need.kind].strip() + age


def header(found: Overview, width: int, elapsed: float) -> Content:
    """The totals on the left, the age of the news on the right; as much as fits."""
    totals = found.totals
    counts = Content(" · ").join([Content.styled(text, style) for text, style in _counts(totals)])
    for news in _news(totals, elapsed):
        room = width - counts.cell_length - len(news)
        if room >= 2:
            return Content.assemble(counts, " " * room, (news, "dim"))
    return counts.truncate(width, ellipsis=True)


def _counts(totals: Totals) -> list[tuple[str, str]]:
    agents = f"{totals.agents} agent" + ("s" if totals.agents != 1 else "")
    parts = [
        (totals.working, "working", ""),
        (totals.needs_you, "need you" if totals.needs_you != 1 else "needs you", "ansi_cyan"),
        (totals.idle, "idle", "dim"),
        (totals.stale, "stale", "ansi_yellow"),
        (totals.dead, "dead", "ansi_red"),
    ]
    return [(agents, "bold"), *((f"{n} {word}", style) for n, word, style in parts if n)]


def _news(totals: Totals, elapsed: float) -> list[str]:
    """The age of the news and the clones, the longest form first."""
    clones = [f"{totals.clones} clones"] if totals.clones > 1 else []
    if totals.news_age is None:
        return clones
    age = f"news {short(totals.news_age + elapsed)} ago"
    return [" · ".join([age, *clones]), age]


def detail_page(row: AgentRow, detail: Detail | None) -> Content:
    """An agent in full. All texts are shown as they are, without control characters."""
    parts = [_facts(row)]
    needs = [why(need) + (f": {seen_line(need.text, TEXT_MOST)}" if need.text else "")
             for need in row.needs]  # fmt: skip
    sections = [("NEEDS YOU", needs)]
    if detail is None:
        sections.append(("", ["Reading …"]))
    else:
        sections += [
            ("CHANGES", [*detail.changes]),
            ("HANDOFFS", [*detail.handoffs]),
            ("LOG", [*detail.log]),
        ]
    for title, lines in sections:
        if lines:
            heading = [Content.styled(title, "bold dim")] if title else []
            parts.append(Content("\n").join([*heading, *(Content(clean(line)) for line in lines)]))
    return Content("\n\n").join(parts)


def _facts(row: AgentRow) -> Content:
    facts = [
        ("issue", f"#{row.issue} {row.title}".strip() if row.issue else ""),
        ("pull request", f"#{row.pull}" if row.pull else ""),
        ("branch", row.branch),
        ("worktree", row.worktree),
        ("clone", f"{row.clone} (this one)" if row.is_here else row.clone),
        ("leases", str(row.leases) if row.leases else ""),
        ("last action", row.action),
        ("last error", row.error),
    ]
    lines = [
        Content.assemble((name.ljust(14), "dim"), seen_line(value, TEXT_MOST))
        for name, value in facts
        if value
    ]
    return Content("\n").join(lines)


def short(seconds: float) -> str:
    """A duration in at most four characters: `6s`, `5m`, `2h`, `3d`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{min(999, int(seconds // size))}{unit}"
    return f"{max(0, int(seconds))}s"
