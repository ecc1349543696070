"""The watch's look at a clone: reads its files, and runs our commands for the person."""

import contextlib
from collections.abc import Sequence
from threading import Event, Lock

from ghp_agents.cli.watch import commands, open_place
from ghp_agents.cli.watch.commands import CommandResult
from ghp_agents.cli.watch.detail import read_detail, worktree_of
from ghp_agents.cli.watch.look import Detail, OpenTarget, QuestionText, Read
from ghp_agents.core import moment
from ghp_agents.core.errors import NotFoundError, UnknownError
from ghp_agents.core.ids import count
from ghp_agents.escalations import escalation as questions
from ghp_agents.escalations import service as escalations
from ghp_agents.hotpath import background
from ghp_agents.presence import wait
from ghp_agents.reports.overview import AgentRow, Overview
from ghp_agents.state.file_times import read_times
from ghp_agents.wiring import App

LOOK_EVERY = 0.5  # seconds between two looks for changes
READ_EVERY = 10.0  # seconds until all is read again: an agent gets stale without a change


class CloneLook:
    """`Look` at the clone of an app; `read` reads its overview."""

    def __init__(self, app: App, read: Read) -> None:
        self._read, self._app = read, app
        # Each thread has parts of its own: they keep what they read.
        self._beside = App(app.cwd, app.environ, clock=app.ws.clock)
        self._exchanging = App(app.cwd, app.environ, clock=app.ws.clock)
        self._asking = Lock()  # around `_exchanging`: the feed and the person ask
        self._times: object = None

    def overview(self) -> Overview:
        """The agents now."""
        moment.end()
        self._times = read_times(self._app.ws)
        return self._read()

    def wait(self, over: Event) -> None:
        """Return after a change, after READ_EVERY, or when `over` is set."""
        waited = 0.0
        while waited < READ_EVERY and not over.wait(LOOK_EVERY):
            waited += LOOK_EVERY
            if read_times(self._app.ws) != self._times:
                return

    def exchange(self) -> float:
        """Ask the remote for news, if nobody just did."""
        moment.end()
        app = self._exchanging
        settings = app.ws.settings
        if background.is_off(app.environ, {"background": settings.background}):
            return settings.sync_every
        if not app.ws.ghp_dir.exists():
            return settings.sync_every
        with self._asking:
            return max(1.0, wait.sync(app, first=False) - app.ws.clock.now())

    def sync(self) -> str:
        """Ask the remote for news now, as `agent-sync` does."""
        moment.end()
        with self._asking:
            report = self._exchanging.store.sync()
        if report.remote is None:
            return "There is no remote to ask."
        if report.trouble:
            raise UnknownError(
                f"{report.remote}: {report.trouble}.",
                hint="Run `ghp agent-doctor` to check the remote.",
            )
        return f"{report.remote}: news from {count(report.news, 'clone')}."

    def question(self, id: str) -> QuestionText:
        """An open question in full."""
        moment.end()
        escalation = questions.find(escalations.present_questions(self._beside.world), id)
        question = escalation.question
        return QuestionText(escalation.name, question.agent, question.text, question.options)

    def detail(self, row: AgentRow) -> Detail:
        """What an agent did."""
        moment.end()
        return read_detail(self._beside, row)

    def places(self, row: AgentRow) -> Sequence[OpenTarget]:
        """What can be opened for an agent."""
        moment.end()
        app, path = self._beside, worktree_of(self._beside, row)
        targets = [*open_place.of_worktree(str(path), app.environ)] if path else []
        with contextlib.suppress(NotFoundError):
            pull = app.forge.get(row.pull) if row.pull is not None else None
            if pull and pull.url:
                targets.append(OpenTarget("p", f"pull request #{pull.number}", url=pull.url))
        return targets

    def answer(self, question: str, text: str) -> CommandResult:
        """Answer a question as the person."""
        # With the space, "-" is an answer and not standard input.
        return commands.run(self._beside, "agent-answer", "--", question, f"{text} ")

    def stop(self, agent: str, reason: str) -> CommandResult:
        """Stop an agent as the person."""
        return commands.run(self._beside, "agent-stop", f"--reason={reason}", "--", agent)
