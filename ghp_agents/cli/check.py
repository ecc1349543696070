"""`agent-check`: may these files be changed now? All hooks ask this command."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.context import acting
from ghp_agents.core.errors import ExitCode, UsageError
from ghp_agents.core.ids import count, listed, one_line
from ghp_agents.guard import check as services
from ghp_agents.guard import held_paths, main_branch, overriding
from ghp_agents.guard.check import CheckResult, ForeignCommitter
from ghp_agents.guard.overriding import Overridden, OverrideResult
from ghp_agents.hotpath.policy import Verdict
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.hotpath.quoting import reason as quoted_reason
from ghp_agents.leases import verify as verification
from ghp_agents.locks.lock import Lock
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.lease import (
        LockJson,
        OverriddenFileJson,
        RefusedCommitJson,
        RefusedFileJson,
    )

LIST_LIMIT = 20  # entries shown to a person; the rest are counted
LINE = 1_000  # characters


@click.command("agent-check", epilog="Example: ghp agent-check --base origin/main --commits")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=complete.files)
@click.option("--staged", is_flag=True, help="Check the staged changes (for a pre-commit hook).")
@click.option(
    "--main", "moved", metavar="COMMIT", help="Check a move of the default branch to this commit."
)
@click.option("--base", metavar="REF", help="Check all changes since HEAD left REF.")
@click.option("--commits", is_flag=True, help="With --base: also check who made the commits.")
@click.option(
    "--issue", type=click.IntRange(1), metavar="N", help="With --commits: the issue of these "
                                                         "commits.",
    shell_complete=complete.issues,
)  # fmt: skip
@click.option(
    "--verify",
    is_flag=True,
    help="Ask the remote first. Without paths: print your claim's generation.",
)
@click.option("--name", metavar="NAME", help="With --verify: the resource of a strict lease.")
@click.option(
    "--override", "reason", metavar="REASON",
    help="Edit files although another agent is editing them. That agent gets the reason.",
)  # fmt: skip
@json_choice.option("Print the refused and overridden files as JSON.")
@acting
def check(
    app: App,
    paths: tuple[str, ...],
    verify: bool,
    name: str | None,
    staged: bool,
    moved: str | None,
    base: str | None,
    commits: bool,
    issue: int | None,
    reason: str | None,
    as_json: bool,
) -> None:
    """Check whether files may be changed now.

    Prints each refused file, who holds it and what to do, and exits with 3 if there are any.
    Without arguments it checks all uncommitted changes. People get a warning and are never refused.

    --base asks the remote first and checks as the agent of the branch agent/NAME/N-…. With
    --commits, each commit must come from a person or from an agent that held the claim of issue N.
    The author or the trailer `Agent:` names that agent. --verify exits with 4 if the remote does
    not answer.

    --main is for git's hooks. An agent with an issue or a worktree of its own is refused: its work
    gets to the default branch by agent-finish and agent-merge.

    --override is for files that another agent is editing without a lease. It is recorded, and the
    other agent is notified. You may then edit these files until that agent has finished with them.
    Leases, claimed scopes and shared files cannot be overridden.
    """
    if moved is not None:
        main_branch.refuse_move(app.offline, moved)
        return
    _check_options(paths, staged=staged, base=base, commits=commits, issue=issue)
    if reason is not None:
        if verify or staged or base is not None:
            raise UsageError(
                "--override excludes --staged, --base and --verify.",
                hint="Use `ghp agent-check --override REASON PATH`.",
            )
        if not paths:
            raise UsageError(
                "--override needs the files to edit.",
                hint='Use `ghp agent-check --override "They fix a typo, I rename it" PATH`.',
            )
        _print_override(app, overriding.go_on(
            app.offline, services.whoever_is_here(app.ws),
            services.chosen(app.ws, paths, app.cwd), reason,
        ), as_json=as_json)  # fmt: skip
        return
    if name is not None and (not verify or paths or staged or base is not None):
        raise UsageError(
            "--name needs --verify and no paths.",
            hint="Use `ghp agent-check --verify --name NAME`.",
        )
    if verify and not (paths or staged or base is not None):
        _print_lock(verification.verify(app, name), as_json=as_json)
        return
    if verify:
        held_paths.fetch_leases(app.store)
    checked = _run_check(app, paths, staged, base, commits, issue)
    if as_json:
        refused = [_fields(verdict) for verdict in checked.refused]
        commits_by_strangers = [_commit_fields(committer) for committer in checked.strangers]
        going_on = _in_force(app, checked)
        output.as_json([*refused, *commits_by_strangers, *map(_override_fields, going_on)])
    else:
        _print(checked, quiet=staged)
    if checked.note:
        output.say(one_line(checked.note, LINE))
    if checked.refused or checked.strangers:
        raise click.exceptions.Exit(int(ExitCode.REFUSED))


def _print_lock(lock: Lock, *, as_json: bool) -> None:
    if as_json:
        fields: LockJson = {
            "right": lock.name, "generation": lock.generation, "since": lock.acquired_at,
        }  # fmt: skip
        output.as_json(fields)
        return
    output.data(str(lock.generation))
    output.say(f"The remote confirms that you have held {lock.name} since {lock.acquired_at}.")


def _check_options(
    paths: tuple[str, ...], *, staged: bool, base: str | None, commits: bool, issue: int | None
) -> None:
    if sum((bool(paths), staged, base is not None)) > 1:
        raise UsageError(
            "Paths, --staged and --base exclude each other.",
            hint="Run the command once for each.",
        )
    if commits and base is None:
        raise UsageError("--commits needs --base.", hint="Use it with --base origin/main.")
    if issue is not None and not commits:
        raise UsageError("--issue needs --commits.", hint="Add --commits.")


def _run_check(
    app: App,
    paths: tuple[str, ...],
    staged: bool,
    base: str | None,
    commits: bool,
    issue: int | None,
) -> CheckResult:
    ctx = app.offline
    if base is not None:
        with output.busy("Asking the remote"):
            return services.check_branch(ctx, base, commits=commits, issue=issue)
    if staged:
        return services.check_staged(ctx, app.environ, app.cwd)
    return services.check(ctx, services.chosen(app.ws, paths, app.cwd))


def _print(checked: CheckResult, *, quiet: bool) -> None:
    """Print the result. `quiet`, for the hook of each commit: print nothing if all is allowed."""
    for (why, advice), paths in _by_reason(checked.refused).items():
        output.page(one_line(why, LINE))
        if len(paths) > 1:
            output.page(f"  Files: {listed([*map(file, paths)], LIST_LIMIT)}")
        output.page(f"  Next: {one_line(advice, LINE)}")
    for committer in checked.strangers:
        output.page(one_line(committer.why, LINE))
        output.page(f"  Next: {committer.next}")
    for verdict in checked.warnings[:LIST_LIMIT]:
        output.say(one_line(verdict.why, LINE))
    for commit in checked.people[:LIST_LIMIT]:
        output.say(f"{commit.oid[:12]} is by a person: {phrase(commit.author, 80)}.")
    more = max(0, len(checked.warnings) - LIST_LIMIT) + max(0, len(checked.people) - LIST_LIMIT)
    if more:
        output.say(f"{more} more refused; use --json to list all.")
    if not quiet or checked.refused or checked.warnings:
        output.say(_summary(checked))


def _by_reason(verdicts: Sequence[Verdict]) -> dict[tuple[str, str], list[str]]:
    """The files that are refused for the same reason, by the reason and what to do."""
    paths: dict[tuple[str, str], list[str]] = {}
    for verdict in verdicts:
        paths.setdefault((verdict.why, verdict.next), []).append(verdict.path)
    return paths


def _summary(checked: CheckResult) -> str:
    words = [f"Checked {count(len(checked.verdicts), 'file')}"]
    if checked.commits:
        words.append(count(checked.commits, "commit"))
    who = checked.who or "you"
    refused = len(checked.refused) + len(checked.strangers)
    return f"{' and '.join(words)} for {who}: {refused or 'none'} refused."


def _in_force(app: App, checked: CheckResult) -> list[Overridden]:
    """The overrides of the checked files that are not refused."""
    refused = {verdict.path for verdict in checked.refused}
    paths = [x.path for x in checked.verdicts if x.path not in refused]
    return list(overriding.in_force(app.offline, checked.who, paths))


def _print_override(app: App, result: OverrideResult, *, as_json: bool) -> None:
    """Print what was overridden, and what is refused all the same."""
    refused = [verdict for verdict in result.verdicts if verdict.is_refused]
    if as_json:
        output.as_json([*map(_fields, refused), *map(_override_fields, result.done)])
    else:
        _print(CheckResult(services.whoever_is_here(app.ws), result.verdicts), quiet=True)
        for override in result.done[:LIST_LIMIT]:
            output.done(_override_words(override))
        if not result.done and not refused:
            output.say("Nobody else is editing these files, so nothing was recorded.")
        others = list(dict.fromkeys(named(override.agent) for override in result.new))
        if others:
            whose = "its" if len(others) == 1 else "their"
            output.say(f"{' and '.join(others)} will be notified at {whose} next step.")
    if refused:
        raise click.exceptions.Exit(int(ExitCode.REFUSED))


def _override_words(overridden: Overridden) -> str:
    path, holder = file(overridden.path), named(overridden.lease.agent)
    return f"You may edit {path}, although {holder} is editing it."


def _override_fields(overridden: Overridden) -> "OverriddenFileJson":
    return {
        "path": overridden.path,
        "decision": "allow",
        "kind": "override",
        "holder": overridden.lease.agent,
        "since": overridden.at,
        "why": f"{_override_words(overridden)}{quoted_reason(overridden.reason)}",
        "next": "",
    }


def _fields(verdict: Verdict) -> "RefusedFileJson":
    return {
        "path": verdict.path,
        "decision": verdict.word,
        "kind": verdict.kind,
        "holder": verdict.holder,
        "since": verdict.since or None,
        "why": verdict.why,
        "next": verdict.next,
    }


def _commit_fields(committer: ForeignCommitter) -> "RefusedCommitJson":
    return {
        "commit": committer.commit.oid,
        "decision": "deny",
        "kind": "commit",
        "agent": committer.agent,
        "why": committer.why,
        "next": committer.next,
    }
