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

from ghp_agents.cli import output
from ghp_agents.cli.context import log_unexpected, make_app
from ghp_agents.cli.group import Group
from ghp_agents.core.errors import ExitCode, GhpError
from ghp_agents.wiring import App


class Row(NamedTuple):
    """A command's module and function, its group and its line in the list."""

    module: str
    function: str
    group: str
    line: str


COMMANDS: dict[str, Row] = {
    "agent-init": Row("init", "init", "set-up", "Set this repository up, or take all of it away."),
    "agent-trust": Row(
        "trust", "trust", "set-up", "Show what this repository runs on your machine, and allow it."
    ),
    "agent-doctor": Row(
        "doctor", "doctor", "set-up", "Check everything; say what to do about each finding."
    ),
    "agent-plugin": Row("plugin", "plugin", "set-up", "Render the plugin for a coding agent."),
    "agent-demo": Row("demo", "demo", "set-up", "Show four agents at work in a temporary place."),
    "agent-status": Row("presence", "status", "presence", "Who is alive and what they do."),
    "agent-heartbeat": Row(
        "presence", "heartbeat", "presence", "Renew this agent's presence; silent."
    ),
    "agent-whoami": Row("presence", "whoami", "presence", "Which agent this is; --set names one."),
    "agent-sync": Row("sync", "sync", "presence", "Exchange state with the remote now."),
    "agent-log": Row("ledger", "log", "presence", "What happened, in order, over all clones."),
    "agent-claim": Row(
        "claim", "claim", "authority", "Take the right to an issue; --next chooses one."
    ),
    "agent-lease": Row("lease", "lease", "authority", "Have files or a resource alone."),
    "agent-leases": Row("lease", "leases", "authority", "Who has what alone, and who waits."),
    "agent-release": Row("claim", "release", "authority", "Give back an issue or a lease."),
    "agent-check": Row(
        "check", "check", "authority", "May these files be changed now? For hooks and workflows."
    ),
    "agent-issues": Row(
        "issue", "issues", "issues", "List issues; --ready shows what can be taken."
    ),
    "agent-issue": Row("issue", "issue", "issues", "Make, show and change an issue."),
    "agent-escalate": Row(
        "escalation", "escalate", "people", "Ask a question that only a person can decide."
    ),
    "agent-escalations": Row(
        "escalation", "escalations", "people", "List questions and their answers."
    ),
    "agent-answer": Row("escalation", "answer", "people", "Answer an agent's question."),
    "agent-handoff": Row(
        "handoff", "handoff", "continuity", "Write down what the next agent must know."
    ),
    "agent-resume": Row(
        "handoff", "resume", "continuity", "Print what this agent must know to go on."
    ),
    "agent-sweep": Row("sweep", "sweep", "care", "Look after what agents left behind."),
    "agent-start": Row(
        "start", "start", "trunk", "Take an issue: its claim, a branch and a worktree."
    ),
    "agent-finish": Row(
        "finish", "finish", "trunk", "Check and push the work here, and open a pull request."
    ),
    "agent-merge": Row("merge", "merge", "trunk", "Merge what is finished, one at a time."),
    "agent-remember": Row(
        "note", "remember", "knowledge", "Tell what should outlive you: one fact, one note."
    ),
    "agent-recall": Row("note", "recall", "knowledge", "Ask what is known, in your own words."),
    "agent-notes": Row("note", "notes", "knowledge", "List, show, change and forget notes."),
}

# Commands that are not listed: for programs, and one that is for a shell's set-up.
HIDDEN: dict[str, Row] = {
    "agent-dashboard": Row("upstream", "dashboard", "upstream", "Answer upstream's dashboard."),
    "agent-event": Row("upstream", "event", "upstream", "Hear of an event of upstream's."),
    "completion": Row("completion", "completion", "set-up", "Print a completion script."),
}

# An agent reads exit code 2 of a hook as "stop", so commands that hooks call always exit with 0.
HOOKS = ("agent-heartbeat", "agent-event")


class Commands(Group):
    """The group of all commands; `--help` lists them without importing their modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = COMMANDS.get(cmd_name) or HIDDEN.get(cmd_name)
        if row is None:
            return None
        command = getattr(import_module(f"ghp_agents.cli.{row.module}"), row.function)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group in dict.fromkeys(row.group for row in COMMANDS.values()):
            lines = [(name, row.line) for name, row in COMMANDS.items() if row.group == group]
            with formatter.section(group.capitalize()):
                formatter.write_dl(lines)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ghp-agents", prog_name="ghp-agents")
def app() -> None:
    """Coordinate many coding agents on one repository, with git and issues alone."""


def run(argv: Sequence[str], application: App | None = None) -> int:
    """Run one command and return its exit code. Errors go to standard error, with a hint."""
    output.open_closed()
    is_hook = bool(argv) and argv[0] in HOOKS
    unseen = contextlib.redirect_stderr(io.StringIO())
    with unseen if _is_completing() else contextlib.nullcontext():  # a person is typing
        code = _run(argv, application or make_app(), is_hook=is_hook)
    return int(ExitCode.DONE) if is_hook else code


def _run(argv: Sequence[str], application: App, *, is_hook: bool) -> int:
    try:
        code = app.main(list(argv), prog_name=_program(), standalone_mode=False, obj=application)
        output.flush()
    except GhpError as error:
        output.error(str(error), error.hint)
        return int(error.exit_code)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        output.say("Aborted.")
        return 130
    except click.ClickException as error:
        error.show(sys.stderr)
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
    return "ghp-agents" if Path(sys.argv[0]).name.startswith("ghp-agents") else "ghp"


def _is_completing() -> bool:
    variable = f"_{_program()}_COMPLETE".replace("-", "_").upper()
    return os.environ.get(variable, "").endswith("_complete")


def _unexpected(error: Exception, place: Path | None) -> int:
    hint = f"The details are in {place}. " if place else ""
    output.error(
        f"Unexpected: {type(error).__name__}: {error}",
        f"{hint}Please report it; nothing that was acknowledged before is lost.",
    )
    return int(ExitCode.ERROR)
