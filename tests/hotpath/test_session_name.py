"""A session without a name has one of its own, and keeps it."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath import own_name
from ghp_agents.hotpath import session_name as sessionname
from ghp_agents.hotpath.locate import locate


@given(st.text(min_size=1), st.sampled_from(sessionname.SUFFIXES))
def test_every_session_has_a_name(session: str, size: int) -> None:
    assert pulse.is_name(f"claude-{sessionname.short(session, size)}")
    assert len(sessionname.short(session, size)) == size


def test_sessions_that_end_alike_have_names_of_their_own_and_keep_them(repo: Path) -> None:
    place = locate(str(repo), {})
    assert place is not None
    folders = pulse.state_folders(place.common_dir, {})
    presences = repo / ".git/ghp/agents"
    ends = ("1111-aaaabeef", "2222-aaaabeef", "3333-bbbbbeef", "4444-aaaabeef")
    sessions = [f"{n}0000000-0000-4000-8000-{end}" for n, end in enumerate(ends)]
    names = ["claude-beef", "claude-aaaabeef", "claude-bbbbbeef", "claude-80004444aaaabeef"]

    def name(session: str) -> str | None:
        return own_name.whoami(place, {"CLAUDE_CODE_SESSION_ID": session})

    for session, expected in zip(sessions, names, strict=True):
        assert name(session) == expected
        pulse.beat(folders, expected, {}, 1_000.0, session=session, epoch=1)
    assert [name(session) for session in sessions] == names
    assert sorted(path.name for path in presences.glob("*.json")) == sorted(
        f"{candidate}.json" for candidate in names
    )
    old = (presences / "claude-beef.json").stat().st_mtime - sessionname.GONE - 60
    os.utime(presences / "claude-beef.json", (old, old))
    assert [name(session) for session in sessions] == names, "what a session has it keeps"
    assert name("50000000-0000-4000-8000-5555-ccccbeef") == "claude-beef", "one of a gone session"
    (presences / "claude-beef.json").unlink()
    assert name(sessions[1]) == names[1]


def test_a_session_that_took_over_a_name_by_choice_shares_it(repo: Path) -> None:
    place = locate(str(repo), {})
    assert place is not None
    folders = pulse.state_folders(place.common_dir, {})
    mine, other = "00000000-0000-4000-8000-00000000beef", "10000000-0000-4000-8000-00000000cafe"
    pulse.beat(folders, "claude-beef", {}, 1_000.0, session=mine, epoch=1)
    pulse.beat(folders, "claude-beef", {}, 1_001.0, session=other, epoch=2)  # by GHP_AGENT
    assert own_name.whoami(place, {"CLAUDE_CODE_SESSION_ID": mine}) == "claude-beef"
