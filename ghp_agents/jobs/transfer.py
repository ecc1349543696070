"""Import jobs from YAML files as issues, and export issues as such files. Doing it again changes
nothing: an issue keeps the id of its job, and the digest of the file that it came from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.errors import GhpError, NotFoundError, UsageError
from ghp_agents.core.files import write_atomically
from ghp_agents.issues.issue import Issue, IssueChange, assignee
from ghp_agents.jobs import job_file
from ghp_agents.jobs.job_file import JobFile
from ghp_agents.jobs.listing import IssueJob
from ghp_agents.ports import Context

MOST_FILES = 1_000
SUFFIXES = (".yaml", ".yml")
OVER = ("completed", "failed")  # jobs that are not created any more


class Imported(NamedTuple):
    """What became of one job of a file."""

    job: JobFile
    issue: Issue | None  # None: it was over already
    how: str  # created, changed, unchanged, over


def read_files(place: Path) -> list[JobFile]:
    """The jobs of a file, or of all YAML files in a folder. Raises UsageError, NotFoundError."""
    if not place.exists():
        raise NotFoundError(f"{place} does not exist.", hint="Name a YAML file, or a folder.")
    jobs: list[JobFile] = []
    for path in _files(place):
        try:
            data = path.read_bytes()[: 4 * job_file.LIMIT + 1]  # a character has 4 bytes at most
            jobs += job_file.parse(data.decode("utf-8"), path.name)
        except UnicodeDecodeError:
            raise UsageError(f"{path} is not UTF-8 text.", hint="Save it as UTF-8.") from None
        except OSError as error:
            raise GhpError(
                f"Cannot read {path}: {error.strerror}.", hint="Check the path and its permissions."
            ) from None
        except ValueError as error:
            raise UsageError(f"{error}.", hint="See `docs/jobs.md` for the fields.") from None
    _refuse_twice(jobs)
    return jobs


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    paths = sorted(path for path in place.iterdir() if path.suffix in SUFFIXES and path.is_file())
    if len(paths) > MOST_FILES:
        raise UsageError(
            f"{place} has {len(paths)} files; at most {MOST_FILES} are read at once.",
            hint="Import its files in parts.",
        )
    return paths


def _refuse_twice(jobs: Iterable[JobFile]) -> None:
    ids: set[str] = set()
    for job in jobs:
        if job.id in ids:
            raise UsageError(
                f"Two jobs have the id {job.id}.", hint="Give each job an id of its own."
            )
        ids.add(job.id)


def import_jobs(ctx: Context, jobs: Sequence[JobFile]) -> list[Imported]:
    """Create an issue for each job that has none, and change those whose file changed. Blockers are
    added when all issues exist. Raises GhpError."""
    by_name = _by_name(ctx.tracker.list(closed=True))
    _refuse_unknown(jobs, by_name)
    done: list[Imported] = []
    for job in jobs:
        result = _import(ctx, job, by_name.get(job.id))
        if result.issue:
            by_name[job.id] = result.issue
        done.append(result)
    for at, result in enumerate(done):
        if result.issue is None:
            continue
        blockers = tuple(
            by_name[name].number for name in result.job.dependencies if name in by_name
        )
        new = tuple(number for number in blockers if number not in result.issue.blocked_by)
        if new and result.issue.state == "open":
            change = IssueChange(add_blockers=new)
            issue = ctx.tracker.change(result.issue.number, change, ctx.ws.actor())
            how = "changed" if result.how == "unchanged" else result.how
            done[at] = result._replace(issue=issue, how=how)
    return done


def _by_name(issues: Iterable[Issue]) -> dict[str, Issue]:
    """Issues by the ids of their jobs; the first issue of an id counts."""
    by_name: dict[str, Issue] = {}
    for issue in issues:
        for name in (job_file.name_of(issue), f"issue-{issue.number}"):
            by_name.setdefault(name, issue)
    return by_name


def _refuse_unknown(jobs: Sequence[JobFile], issues: Mapping[str, Issue]) -> None:
    names = issues.keys() | {job.id for job in jobs}
    for job in jobs:
        for name in job.dependencies:
            if name not in names:
                raise UsageError(
                    f"{job.id} depends on {name}, which is not a job.",
                    hint="Import both together, or name an issue as issue-12.",
                )


def _import(ctx: Context, job: JobFile, issue: Issue | None) -> Imported:
    by = ctx.ws.actor()
    if issue is None:
        if job.status in OVER:
            return Imported(job, None, "over")
        assigned = (assignee(job.assigned_to),) if job.assigned_to else ()
        wanted = IssueChange(
            title=job.title, body=job_file.body(job), priority=job.priority,
            add_assignees=assigned,
        )  # fmt: skip
        return Imported(job, ctx.tracker.create(wanted, by), "created")
    if issue.state == "closed" or _is_same(issue, job):
        return Imported(job, issue, "unchanged")
    change = IssueChange(title=job.title, body=job_file.body(job), priority=job.priority)
    return Imported(job, ctx.tracker.change(issue.number, change, by), "changed")


def _is_same(issue: Issue, job: JobFile) -> bool:
    """Whether the issue came from this file unchanged, or has the same content."""
    digest = job_file.mark(issue)[1]
    return job.digest in (digest, job_file.of_issue(issue, "", {}).digest)


def exported(jobs: Sequence[IssueJob], issues: Iterable[Issue]) -> Iterator[JobFile]:
    """The jobs as files; `issues` are all issues that they may wait for."""
    names: dict[int, str] = {
        number: job_file.name_of(issue) for issue in issues for number in issue.numbers
    }
    for job in jobs:
        file = job_file.of_issue(job.issue, job.state.value, names)
        yield file._replace(result=job.result)


def write(folder: Path, jobs: Iterable[JobFile]) -> int:
    """Write each job to a file of its own; returns how many files changed. Raises GhpError."""
    changed = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for job in jobs:
            path, data = folder / f"{job.id}.yaml", job_file.render(job).encode()
            if not path.exists() or path.read_bytes() != data:
                write_atomically(path, data, mode=0o644)
                changed += 1
    except OSError as error:
        raise GhpError(
            f"Cannot write to {folder}: {error.strerror}.", hint="Name a folder that is writable."
        ) from None
    return changed
