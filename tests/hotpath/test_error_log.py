"""The log of what nobody was told."""

import json
from pathlib import Path

from ghp_agents.hotpath import error_log as mishaps
from ghp_agents.hotpath import heartbeat as pulse

HERE = {"HOME": "/nonexistent"}


def fail(text: str = "What went wrong.") -> ValueError:
    try:
        raise ValueError(text)
    except ValueError as error:
        return error


def entries(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_went_wrong_is_kept_with_its_trace(repo: Path) -> None:
    log = repo / ".git/ghp/log.jsonl"
    assert mishaps.log_error(fail(), str(repo), HERE) == str(log)
    assert mishaps.log_error(fail("Again."), str(repo), HERE, where="hook claude") == str(log)
    first, second = entries(log)
    assert list(first) == ["at", "error", "trace"]
    assert first["error"] == "ValueError: What went wrong."
    assert first["trace"].endswith("ValueError: What went wrong.\n")
    assert second["where"] == "hook claude"


def test_a_repository_that_is_not_in_use_can_be_left_alone(repo: Path, tmp_path: Path) -> None:
    assert mishaps.log_error(fail(), str(repo), HERE, only_if_set_up=True) is None
    assert not (repo / ".git/ghp").exists()
    assert mishaps.log_error(fail(), str(tmp_path), HERE) is None
    (repo / ".git/ghp").mkdir()
    assert mishaps.log_error(fail(), str(repo), HERE, only_if_set_up=True) is not None


def test_a_log_does_not_grow_for_ever(repo: Path) -> None:
    log = repo / ".git/ghp/log.jsonl"
    mishaps.log_error(fail("x" * 3_000_000), str(repo), HERE)
    assert log.stat().st_size < 20_000
    log.write_text("x" * (mishaps.LIMIT + 1))
    mishaps.log_error(fail(), str(repo), HERE)
    assert len(entries(log)) == 1
    assert (repo / ".git/ghp/log.old.jsonl").stat().st_size == mishaps.LIMIT + 1


def test_where_the_clone_cannot_be_written_it_is_kept_outside(repo: Path, tmp_path: Path) -> None:
    (repo / ".git/ghp").write_text("no folder")
    environ = {"GHP_STATE_DIR": str(tmp_path / "state")}
    spare = pulse.spare_folder(f"{repo}/.git", environ)
    assert mishaps.log_error(fail(), str(repo), environ) == f"{spare}/log.jsonl"
    assert len(entries(Path(spare, "log.jsonl"))) == 1
