"""The lines of info/exclude: put in once, taken out alone."""

from pathlib import Path

from ghp_agents.git import exclude


def test_a_line_is_put_at_the_end_once_and_taken_out_alone(tmp_path: Path) -> None:
    path = tmp_path / "info/exclude"
    exclude.add(tmp_path, "/a.json")
    exclude.add(tmp_path, "/a.json")
    assert path.read_bytes() == b"/a.json\n"
    path.write_bytes(b"*.swp\r\n/a.json\n\xff")
    assert exclude.has(tmp_path, "/a.json")
    assert not exclude.has(tmp_path, "/a")
    exclude.add(tmp_path, "/b")
    assert path.read_bytes() == b"*.swp\r\n/a.json\n\xff\n/b\n"
    assert exclude.remove(tmp_path, "/a.json") == path
    assert path.read_bytes() == b"*.swp\r\n\xff\n/b\n"
    assert exclude.remove(tmp_path, "/a.json") is None


def test_where_there_is_no_file_there_is_no_line(tmp_path: Path) -> None:
    assert not exclude.has(tmp_path, "/a")
    assert exclude.remove(tmp_path, "/a") is None
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_shared_file_stays_one(tmp_path: Path) -> None:
    (tmp_path / "info").mkdir()
    (tmp_path / "shared").write_text("*.o\n")
    (tmp_path / "info/exclude").symlink_to(tmp_path / "shared")
    exclude.add(tmp_path, "/a")
    assert (tmp_path / "info/exclude").is_symlink()
    assert (tmp_path / "shared").read_text() == "*.o\n/a\n"
