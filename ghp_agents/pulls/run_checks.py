"""Run the configured checks; keep their output, bounded and without secrets."""

from collections.abc import Callable
from pathlib import Path

from ghp_agents.core import files, process, progress
from ghp_agents.core.child_env import for_commands, shown
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import one_line, slug
from ghp_agents.pulls.check import Check, red
from ghp_agents.settings import consent, left_out_variables
from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import Workspace, settings_at
from ghp_agents.worktrees import slots

FOLDER = "checks"  # in the clone's ghp folder: one file of last outputs for each branch
CHECKS = "checks"  # the setting
KEPT = 64_000  # bytes of each output
COMMAND_SHOWN = 40  # characters, while it runs

NONE = "No checks are configured. List the commands in `agents.checks` of .ghp/config.json."

Tell = Callable[[str], None]


def rules(ws: Workspace, trunk: str) -> Settings:
    """Return the settings whose checks apply to work that goes onto the commit `trunk`.

    They are that commit's own: neither a stale main worktree nor the work itself can drop a check.
    If it has none, this worktree's apply. Raises RefusedError for checks without consent."""
    trunk_settings = settings_at(ws, trunk)
    chosen = (
        trunk_settings
        if trunk_settings.checks or CHECKS in trunk_settings.unagreed
        else ws.settings
    )
    if CHECKS in chosen.unagreed:
        what, hint = consent.sentence(CHECKS, chosen.unagreed[CHECKS], chosen.trunk_place)
        raise RefusedError(what, hint=hint)
    return chosen


def run(ws: Workspace, settings: Settings, path: Path, name: str, tell: Tell) -> tuple[Check, ...]:
    """Run the checks of `settings` in the worktree at `path`, in order, up to the first failure.
    `name` is the branch."""
    done: list[Check] = []
    keep = ws.settings.checks_keep_env
    if settings.checks and (
        note := left_out_variables.note(
            ws.home_folder, ws.environ, keep, "checks do", left_out_variables.SETTING
        )
    ):
        tell(note)
    for command in settings.checks:
        tell(f"Running `{command}` …")
        with progress.step(f"`{one_line(command, COMMAND_SHOWN)}`"):
            done.append(_run_check(ws, path, command, settings.check_timeout))
        _save_outputs(ws, name, done)
        if red(done):
            break
    return tuple(done)


def _run_check(ws: Workspace, path: Path, command: str, timeout: float) -> Check:
    began = ws.clock.now()
    env = for_commands(ws.environ, ws.settings.checks_keep_env)
    env |= {**slots.variables(path), "PWD": str(path)}
    ran = process.shell(command, cwd=path, env=env, timeout=timeout, keep=KEPT)
    took = max(0.0, ws.clock.now() - began)
    seconds = timeout if ran.timed_out else took
    return Check(command, ran.code, shown(ran.output, ws.environ), ran.timed_out, seconds)


def kept_in(ws: Workspace, name: str) -> Path:
    """Return the file with the last outputs for a branch."""
    return ws.ghp_dir / FOLDER / f"{slug(name, 80) or 'branch'}.txt"


def _save_outputs(ws: Workspace, name: str, checks: list[Check]) -> None:
    text = "\n\n".join(f"$ {check.command}\n{check.output}\n({check.verdict})" for check in checks)
    try:
        files.write_atomically(kept_in(ws, name), f"{text}\n".encode("utf-8", "replace"))
    except OSError:
        return  # the result has the output, too
