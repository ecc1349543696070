"""A job as YAML, and the issue that it becomes. Others write these files: all is checked."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ghp_agents.core import front_matter
from ghp_agents.core.ids import digest, one_line
from ghp_agents.issues import job_fields
from ghp_agents.issues.body_sections import section
from ghp_agents.issues.issue import DEFAULT_PRIORITY, JOB, PRIORITIES, STATES, Issue

LIMIT = 20_000  # characters of a file; larger YAML can take seconds to parse
MOST = 100  # entries of a list
LINE = 300  # characters of an entry
HEADING = JOB  # of the section with the job's id, and the digest of its file
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MARK = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,63}) \(([0-9a-f]{12})\)")
_LISTS = {  # keys of a file, and the section of the body that each becomes
    "context_files": job_fields.CONTEXT,
    "requirements": "Requirements",
    "capabilities": "Capabilities",
    "deliverables": job_fields.DELIVERABLES,
}
_ALIASES = {"due_date": "due", "context": "context_files"}
_TEXTS = ("title", "status", "priority", "assigned_to", "created_by", "due", "description")


class JobFile(NamedTuple):
    """The fields of a job, as in its file."""

    id: str
    title: str
    status: str = "queued"  # written for people; the issue decides
    priority: str = DEFAULT_PRIORITY
    assigned_to: str = ""
    created_by: str = ""
    due: str = ""
    dependencies: tuple[str, ...] = ()
    description: str = ""
    context_files: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    deliverables: tuple[str, ...] = ()
    result: str = ""  # written by an export; the issue decides

    @property
    def digest(self) -> str:
        """Of all that an import writes: a file with the same digest changes nothing."""
        fields = self._replace(status="", assigned_to="", dependencies=())._asdict()
        del fields["result"]
        return digest(*map(str, fields.values()))[:12]


def parse(text: str, name: str) -> list[JobFile]:
    """The jobs of a file: one, or a list of them. Raises ValueError with a reason."""
    content = front_matter.load(text, LIMIT, name)
    entries = content if isinstance(content, list) else [content]
    if not 0 < len(entries) <= MOST:
        raise ValueError(f"{name} has {len(entries)} jobs; at most {MOST} are read")
    return [_parsed(entry, name) for entry in entries]


def _parsed(entry: object, name: str) -> JobFile:
    if not isinstance(entry, dict):
        raise ValueError(f"{name} is not a list of fields")
    entry = {_ALIASES.get(str(key), str(key)): value for key, value in entry.items()}
    unknown = sorted(entry.keys() - {*JobFile._fields})
    if unknown:
        raise ValueError(f"{name}: a job has no field `{one_line(unknown[0], 40)}`")
    texts = {key: _text(entry.get(key), key, name) for key in _TEXTS}
    lists = {key: _list(entry.get(key), key, name) for key in (*_LISTS, "dependencies")}
    job = JobFile(id=_text(entry.get("id"), "id", name), **texts, **lists)  # type: ignore[arg-type]
    if not _ID.fullmatch(job.id):
        raise ValueError(f"{name}: `id` must be one word of letters, digits, `.`, `_`, `-`")
    if not job.title:
        raise ValueError(f"{name}: `title` is missing")
    job = job._replace(priority=job.priority or DEFAULT_PRIORITY, status=job.status or "queued")
    if job.priority not in PRIORITIES:
        raise ValueError(f"{name}: `priority` must be one of {', '.join(PRIORITIES)}")
    return job


def _text(value: object, key: str, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise ValueError(f"{name}: `{key}` is not a text")
    text = str(value).strip()
    if key != "description" and ("\n" in text or len(text) > LINE):
        raise ValueError(f"{name}: `{key}` is not one line of at most {LINE} characters")
    return text


def _list(value: object, key: str, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MOST:
        raise ValueError(f"{name}: `{key}` is not a list of at most {MOST} entries")
    return tuple(filter(None, (_text(entry, key, name) for entry in value)))


def body(job: JobFile) -> str:
    """The body of the job's issue."""
    return "\n\n".join(_sections(job))


def _sections(job: JobFile) -> Iterator[str]:
    if job.description:
        yield job.description
    for key, heading in _LISTS.items():
        if entries := getattr(job, key):
            yield f"## {heading}\n\n" + "\n".join(f"- {entry}" for entry in entries)
    if job.due:
        yield f"## {job_fields.DUE}\n\n{job.due}"
    by = f", created by {job.created_by}" if job.created_by else ""
    yield f"## {HEADING}\n\n{job.id} ({job.digest}){by}"


def mark(issue: Issue) -> tuple[str, str]:
    """The id of the job that an issue was imported from, and its digest; empty without one."""
    if f"## {HEADING}" not in issue.form:
        return "", ""
    match = _MARK.match(section(issue.form, HEADING))
    return (match[1], match[2]) if match else ("", "")


def name_of(issue: Issue) -> str:
    """The id of an issue as a job."""
    return mark(issue)[0] or f"issue-{issue.number}"


def of_issue(issue: Issue, status: str, names: Mapping[int, str]) -> JobFile:
    """An issue as a job; `names` are the ids of the issues that it may wait for, by number."""
    assert issue.state in STATES
    text = section(issue.form, HEADING)
    lists = {key: job_fields.listed(issue, heading) for key, heading in _LISTS.items()}
    return JobFile(
        id=name_of(issue),
        title=issue.title,
        status=status,
        priority=issue.priority,
        assigned_to=issue.assignees[0] if issue.assignees else "",
        created_by=text.partition(", created by ")[2].partition("\n")[0] or issue.author,
        due=job_fields.due(issue),
        dependencies=tuple(names[number] for number in issue.blocked_by if number in names),
        description=_description(issue.form),
        **lists,  # type: ignore[arg-type]
    )


def _description(text: str) -> str:
    """The body without the sections that are fields of their own."""
    headings = {*_LISTS.values(), job_fields.DUE, f"{job_fields.DUE} date", HEADING}
    kept: list[str] = []
    skips = False
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.startswith("#"):
            skips = line.lstrip("#").strip() in headings
        if not skips:
            kept.append(line)
    return "\n".join(kept).strip()


def render(job: JobFile) -> str:
    """The job as YAML, in the order of its fields; empty ones are left out, but for the lists that
    people fill in."""
    fields: dict[str, Any] = {
        key: [*value] if isinstance(value, tuple) else value for key, value in job._asdict().items()
    }
    return front_matter.dump({key: value for key, value in fields.items() if value})
