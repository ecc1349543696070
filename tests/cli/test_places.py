"""Every command in every kind of place where people work."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.state.places import PLACES, Ground
from tests.support import repos
from tests.support.doctor import findings
from tests.support.ghp import invoke
from tests.support.git import git

AS = {"GHP_AGENT": "worker-1"}
COMMANDS = (
    ("agent-heartbeat", "--status", "testing", "--action", "Ran the tests"),
    ("agent-status",),
    ("agent-status", "--json"),
    ("agent-whoami", "--set", "worker-1"),
    ("agent-issue", "new", "Parse the input"),
    ("agent-issue", "assign", "1", "worker-1"),
    ("agent-issues", "--mine"),
    ("agent-escalate", "Tabs or spaces?", "--issue", "1"),
    ("agent-escalations",),
    ("agent-handoff", "--issue", "1", "--note", "Half done."),
    ("agent-resume", "--issue", "1"),
    ("agent-sync", "--publish"),
    ("agent-log",),
    ("agent-init",),
)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES, ids=[place.__name__ for place in PLACES])
def test_every_command_works_here_and_all_of_it_goes_away_again(
    tmp_path: Path, templates: repos.Templates, place: Callable[[Ground], Path]
) -> None:
    folder = place(Ground(tmp_path, templates))
    before = git(folder, "for-each-ref")
    for command in COMMANDS:
        code, _, err = invoke(command, folder, AS)
        assert (code, "Unexpected" in err) == (0, False), (command, err)
    assert findings(folder) == {}
    assert git(folder, "for-each-ref") == before
    if place.__name__ != "bare":
        assert git(folder, "status", "--porcelain") == ""
    assert invoke("agent-init --remove --yes --remote-refs", folder).code == 0
    remote = tmp_path / "remote.git"
    ours = [path for path in tmp_path.rglob("*") if path.name in ("ghp", "ghp-agent", ".ghp")]
    assert [path for path in ours if not path.is_relative_to(remote)] == []
    assert git(remote, "for-each-ref", "refs/ghp") == ""
