"""What only this supervisor knows of a run: its child process, and what the client printed."""

from ghp_agents.core.process import Child
from ghp_agents.runs import folder, processes, stream
from ghp_agents.runs.folder import LogReader
from ghp_agents.runs.logs import times
from ghp_agents.runs.record import RunRecord
from ghp_agents.runs.stream import ClientProgress
from ghp_agents.workspace import Workspace


class WatchedRun:
    """A run that a supervisor looks at. Times are seconds of `Clock.interval`."""

    def __init__(self, ws: Workspace, run: RunRecord, child: Child | None, now: float) -> None:
        self.child = child
        self.place = folder.of(ws, run.id)
        self.reader = LogReader(self.place)
        self.progress = ClientProgress(session=run.session)
        self.last_line = ""
        self.began = run.seconds
        self.spoke = now  # the last output
        self.beaten = now
        self.ordered: float | None = None  # when it was told to stop

    def lives(self, run: RunRecord) -> bool:
        """Whether its client runs, or nobody has yet written how it ended."""
        if self.child is not None:
            self.child.poll()  # reaps it
        return folder.exit_code(self.place) is None and processes.lives(run)

    def listen(self, now: float) -> bool:
        """Read what the client printed; returns whether its session id changed."""
        before = self.progress
        whole = self.reader.whole
        for line in self.reader.lines():
            self.spoke = now
            self.progress = stream.read(self.progress, line)
            self.last_line = stream.last_words(self.last_line, line)
        if self.reader.whole > whole:
            times.note_time(self.place, self.reader.whole, now - self.began)
        if folder.rotate(self.place):
            self.reader.begin_again()
        return self.progress.session != before.session
