"""The table of commands, and a click group that imports a command only when it is called."""

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import click

from ghp_agents.cli import common_options, output
from ghp_agents.cli.aliases import PREFIX
from ghp_agents.cli.context import log_unexpected, make_app
from ghp_agents.cli.group import SHORT, Program
from ghp_agents.core import moment, progress, trace
from ghp_agents.core.errors import ExitCode, GhpError
from ghp_agents.hotpath.locate import guard_is_current, locate
from ghp_agents.wiring import App


class Row(NamedTuple):
    """A command's module and function, its group and its line in the list."""

    module: str
    function: str
    group: str
    line: str


COMMANDS: dict[str, Row] = {
    "agent-init": Row(
        "setup.init", "init", "set up", "Set up this repository, or remove everything again."
    ),
    "agent-trust": Row(
        "setup.trust",
        "trust",
        "set up",
        "Show what this repository may run on your machine, and allow it.",
    ),
    "agent-doctor": Row(
        "setup.doctor", "doctor", "set up", "Check the set-up; print a fix for each problem."
    ),
    "agent-plugin": Row("setup.plugin", "plugin", "set up", "Write the plugin for Claude Code."),
    "agent-mcp": Row(
        "mcp.server", "mcp", "set up", "Offer the commands to a model as tools (MCP)."
    ),
    "agent-demo": Row("demo", "demo", "set up", "Show four agents at work in a temporary folder."),
    "agent-status": Row(
        "status", "status", "agents", "List agents; those that need you come first."
    ),
    "agent-heartbeat": Row(
        "presence",
        "heartbeat",
        "agents",
        "Report that this agent is alive and what it is doing (prints nothing).",
    ),
    "agent-whoami": Row(
        "presence", "whoami", "agents", "Print this agent's name; --set changes it."
    ),
    "agent-stop": Row(
        "stop", "stop", "agents", "Tell an agent to stop, or end its client at once."
    ),
    "agent-work": Row(
        "runs.work", "work", "agents", "Start agents without a terminal, and supervise them."
    ),
    "agent-logs": Row("runs.logs", "logs", "agents", "List runs, or print the output of one."),
    "agent-tasks": Row(
        "runs.tasks", "tasks", "agents", "Run tasks from .ghp/tasks in the background."
    ),
    "agent-sync": Row("sync", "sync", "agents", "Exchange state with the remote now."),
    "agent-log": Row("ledger", "log", "agents", "List what happened in all clones, oldest first."),
    "agent-report": Row(
        "ledger", "report", "agents", "Report what waits for a person, and what happened."
    ),
    "agent-timeline": Row(
        "timeline", "timeline", "agents", "Draw a timeline of who worked on what."
    ),
    "agent-claim": Row("claim", "claim", "claims and leases", "Claim an issue; --next picks one."),
    "agent-lease": Row("lease", "lease", "claims and leases", "Reserve files or a named resource."),
    "agent-leases": Row(
        "lease", "leases", "claims and leases", "List leases and who is waiting for them."
    ),
    "agent-release": Row("claim", "release", "claims and leases", "Release an issue or a lease."),
    "agent-check": Row(
        "check",
        "check",
        "claims and leases",
        "Check whether files may be changed (for hooks and CI).",
    ),
    "agent-conflicts": Row(
        "conflicts",
        "conflicts",
        "claims and leases",
        "Show whose work conflicts, with others or with main.",
    ),
    "agent-issues": Row(
        "issue", "issues", "issues", "List issues; --ready lists those that can be claimed."
    ),
    "agent-issue": Row("issue", "issue", "issues", "Create, show and change issues."),
    "agent-jobs": Row("jobs.jobs", "jobs", "issues", "List issues as jobs, by their state."),
    "agent-dispatch": Row(
        "jobs.dispatch", "dispatch", "issues", "Assign open issues to agents that have room."
    ),
    "agent-explain": Row(
        "jobs.explain",
        "explain",
        "issues",
        "Explain why nobody works on an issue, or why an agent is idle.",
    ),
    "agent-escalate": Row("escalation", "escalate", "questions", "Ask a person a question."),
    "agent-escalations": Row(
        "escalation", "escalations", "questions", "List questions and their answers."
    ),
    "agent-answer": Row("escalation", "answer", "questions", "Answer an agent's question."),
    "agent-send": Row("messages.send", "send", "messages", "Send a message to agents."),
    "agent-inbox": Row(
        "messages.inbox", "inbox", "messages", "List, read, claim and complete messages."
    ),
    "agent-thread": Row("messages.inbox", "thread", "messages", "Print a conversation."),
    "agent-export": Row(
        "messages.export", "export", "messages", "Write conversations as Markdown files."
    ),
    "agent-vote": Row("messages.vote", "vote", "messages", "Vote on an agent's proposal."),
    "agent-run": Row(
        "workflows.workflows",
        "run",
        "messages",
        "Start a workflow: work in steps for several agents.",
    ),
    "agent-workflows": Row(
        "workflows.workflows", "workflows", "messages", "List workflows and their progress."
    ),
    "agent-topic": Row("messages.topic", "topic", "messages", "List and describe topics."),
    "agent-subscribe": Row(
        "messages.topic", "subscribe", "messages", "Subscribe this agent to topics of messages."
    ),
    "agent-handoff": Row(
        "handoff", "handoff", "handoffs", "Save the state of your work for the next agent."
    ),
    "agent-resume": Row(
        "handoff", "resume", "handoffs", "Print what you need to continue the work."
    ),
    "agent-sweep": Row(
        "sweep", "sweep", "cleanup", "Free the work of dead agents and update the status page."
    ),
    "agent-start": Row(
        "start", "start", "branches", "Claim an issue and create its branch and worktree."
    ),
    "agent-where": Row("where", "where", "branches", "Print the path of an issue's worktree."),
    "agent-update": Row("update", "update", "branches", "Update the current branch from main."),
    "agent-finish": Row(
        "finish", "finish", "branches", "Run the checks, push, and open a pull request."
    ),
    "agent-pulls": Row(
        "pull", "pulls", "branches", "List pull requests; --all lists merged and closed ones, too."
    ),
    "agent-pull": Row("pull", "pull", "branches", "Show a pull request and its diff."),
    "agent-merge": Row(
        "merge", "merge", "branches", "Merge finished pull requests, one at a time."
    ),
    "agent-review": Row("pull", "review", "branches", "Approve finished work, or request changes."),
    "agent-remember": Row("note", "remember", "notes", "Save one fact for later agents."),
    "agent-recall": Row("note", "recall", "notes", "Search the notes in your own words."),
    "agent-notes": Row("note", "notes", "notes", "List, show, change and delete notes."),
}

# Commands that are not listed: for programs, and one that is for a shell's set-up.
HIDDEN: dict[str, Row] = {
    "agent-dashboard": Row("upstream", "dashboard", "upstream", "Answer upstream ghp's dashboard."),
    "agent-event": Row("upstream", "event", "upstream", "Handle an event from upstream ghp."),
    "completion": Row("completion", "completion", "Set up", "Print a completion script."),
}

# The other two never call upstream's `ghp`, so they need no `agent-` before a command.
PROGRAMS = ("ghp", "ghp-agents", SHORT)

# An agent reads exit code 2 of a hook as "stop", so commands that hooks call always exit with 0.
HOOKS = ("agent-heartbeat", "agent-event")


class Commands(Program):
    """The group of all commands; `--help` lists them without importing their modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [self.shown(ctx, name) for name in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        full = f"{PREFIX}{cmd_name}" if ctx.info_name == SHORT else cmd_name
        row = COMMANDS.get(cmd_name) or HIDDEN.get(cmd_name) or COMMANDS.get(full)
        if row is None:
            return None
        command = getattr(import_module(f"ghp_agents.cli.{row.module}"), row.function)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group in dict.fromkeys(row.group for row in COMMANDS.values()):
            lines = [
                (self.shown(ctx, name), row.line)
                for name, row in COMMANDS.items()
                if row.group == group
            ]
            with formatter.section(group.capitalize()):
                formatter.write_dl(lines)


@click.group(
    cls=Commands,
    params=common_options.options(hidden=False),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="ghp-agents", prog_name="ghp-agents")
def app() -> None:
    """Coordinate many coding agents on one repository, with git and issues alone."""


def run(argv: Sequence[str], application: App | None = None) -> int:
    """Run one command and return its exit code. Errors go to standard error, with a hint."""
    output.open_closed()
    moment.end()  # a program may run several commands, and change something in between
    word = common_options.first_word(argv)
    is_hook = word in HOOKS or f"{PREFIX}{word}" in HOOKS
    unseen = contextlib.redirect_stderr(io.StringIO())
    application = application or make_app()
    with (
        unseen if _is_completing() else contextlib.nullcontext(),  # a person is typing
        output.clocked(lambda: application.clock.now()),
    ):
        code = _run(argv, application, is_hook=is_hook)
        for text in trace.take_notes():
            output.warn(text)
        _renew_guard(application)
    return int(ExitCode.DONE) if is_hook else code


def _renew_guard(application: App) -> None:
    """Put git's guard back if another program took it away since the last command here."""
    place = locate(str(application.cwd), application.environ)
    if place is None or guard_is_current(place.common_dir, application.environ):
        return
    from ghp_agents.integrations.git_hooks import renewal

    try:
        for change in renewal.renew(application.ws):
            output.done(f"Another program changed git's hooks. {change}")
    except (GhpError, OSError) as error:
        log_unexpected(error)


def _run(argv: Sequence[str], application: App, *, is_hook: bool) -> int:
    try:
        with progress.told_by(output.say):
            code = app.main(
                list(argv), prog_name=_program(), standalone_mode=False, obj=application
            )
        output.flush()
    except GhpError as error:
        output.error(str(error), error.hint)
        return int(error.exit_code)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        output.say("Aborted.")
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        error.show(sys.stderr)
        return int(ExitCode.USAGE)
    except click.ClickException as error:
        from ghp_agents.cli.terminal import usage

        output.error(*usage.explain(error))
        return int(ExitCode.USAGE)
    except BrokenPipeError:
        output.drop_stdout()
        return int(ExitCode.DONE)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # last resort: the user must not see a traceback
        place = log_unexpected(error)
        return int(ExitCode.ERROR) if is_hook else _unexpected(error, place)
    return code if isinstance(code, int) else int(ExitCode.DONE)


def _program() -> str:
    """The program name that was used; each has its own completion variable."""
    name = Path(sys.argv[0]).name.removesuffix(".exe")
    return name if name in PROGRAMS else "ghp"


def _is_completing() -> bool:
    variable = f"_{_program()}_COMPLETE".replace("-", "_").upper()
    return os.environ.get(variable, "").endswith("_complete")


def _unexpected(error: Exception, place: Path | None) -> int:
    hint = f"See {place} for details. " if place else ""
    output.error(
        f"Unexpected: {type(error).__name__}: {error}",
        f"{hint}Please report this; everything saved before is kept.",
    )
    return int(ExitCode.ERROR)
