"""What a supervisor reads of a run while it goes on."""

from ghp_agents.runs import folder
from ghp_agents.runs.watched_run import WatchedRun
from tests.support.runs import RUN, Shift


def test_output_is_read_once_with_its_session_and_its_last_line(shift: Shift) -> None:
    ws = shift.app().ws
    folder.write(ws, RUN)
    log = folder.of(ws, RUN.id) / "log"
    log.write_text('{"type":"system","session_id":"s-1"}\nhello\n')
    watched = WatchedRun(ws, RUN, None, 5.0)
    assert watched.listen(9.0)
    assert (watched.progress.session, watched.last_line, watched.spoke) == ("s-1", "hello", 9.0)
    assert not watched.listen(12.0)
    assert watched.spoke == 9.0


def test_the_words_of_an_error_count_and_not_the_advice_after_them(shift: Shift) -> None:
    ws = shift.app().ws
    folder.write(ws, RUN)
    (folder.of(ws, RUN.id) / "log").write_text("Begins\nError: No key.\nHint: Set it.\nhint: -f\n")
    watched = WatchedRun(ws, RUN, None, 5.0)
    watched.listen(9.0)
    assert watched.last_line == "Error: No key."


def test_a_run_without_a_process_does_not_live(shift: Shift) -> None:
    assert not WatchedRun(shift.app().ws, RUN, None, 5.0).lives(RUN)
