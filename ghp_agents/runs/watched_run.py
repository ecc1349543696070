"""What only this supervisor knows of a run: its child process, and what the client printed."""

import os
from contextlib import suppress
from pathlib import Path

from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.process import Child
from ghp_agents.git import worktree
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.runs import folder, outcome, processes, stream
from ghp_agents.runs.boxes import enclosure
from ghp_agents.runs.folder import LogReader
from ghp_agents.runs.launch import Make
from ghp_agents.runs.logs import times
from ghp_agents.runs.record import ENDED, FAILED, INTERRUPTED, RunRecord
from ghp_agents.runs.stream import ClientProgress
from ghp_agents.workspace import Workspace

PROMPT = "prompt.md"  # written when the worktree is ready, before the client starts
SIGNALLED = 128  # from here on, a shell's exit code names a signal


def fence(ws: Workspace, run: RunRecord) -> bool:
    """End the run of an agent whose supervisor is gone, and that nobody continues now; returns
    whether there was one. Raises GhpError, OSError."""
    if run.state == ENDED:
        return False
    with suppress(RefusedError), folder.alone(ws, run.agent):
        processes.end(run, ws.clock.wait)
        why = "its supervisor is gone"
        folder.write(ws, run._replace(state=ENDED, outcome=INTERRUPTED, why=why))
        return True
    return False


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

    def end(self, run: RunRecord) -> ClientProgress:
        """What a client has reported that has ended, also in a last line without an end; and
        whether it left work."""
        progress = stream.read(self.progress, self.reader.last())
        self.progress = progress._replace(left_work=self._left_work(run))
        return self.progress

    def _left_work(self, run: RunRecord) -> bool:
        """Whether an ended client left a commit or a change in its worktree, or a signal ended it.
        An account that refuses to work does none of it."""
        code = folder.exit_code(self.place)
        if code is None or not 0 <= code < SIGNALLED:
            return True
        with suppress(GhpError, OSError):
            tree, began = Path(run.path), (self.place / PROMPT).stat().st_mtime
            changed = [tree / difference.path for difference in worktree.differences(tree)]
            place = walk_up(run.path)
            logs = [Path(place.git_dir, "logs/HEAD")] if place else []
            times = [os.lstat(path).st_mtime for path in (*changed, *logs) if os.path.lexists(path)]
            return max(times, default=0.0) > began
        return False

    def settled(self, make: Make, ws: Workspace, run: RunRecord) -> RunRecord:
        """The record of the run, whose process is gone, but for the time."""
        with suppress(GhpError, OSError):
            enclosure.clean(ws, run, self.place)
        code = folder.exit_code(self.place)
        error = self.progress.error or (self.last_line if code else "")
        error = outcome.complete(make(Path(run.path), run.agent), self.place, run) or error
        try:
            ending = outcome.find(make(ws.root, run.agent), run, code, error)
        except GhpError as error_:
            ending = outcome.RunOutcome(FAILED, f"cannot tell how it ended: {error_}")
        return outcome.settled(run, ending, code, self.progress)
