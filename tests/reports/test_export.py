"""The export's folder: written once, updated, and never anything of somebody else's."""

import json
from pathlib import Path

import pytest

from ghp_agents.core import user_file
from ghp_agents.core.errors import RefusedError
from ghp_agents.reports import export

PAGES = {"conversations/a.md": "A\n", "timeline.md": "T\n"}


def texts(folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != export.LISTING]
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(paths)}


def test_pages_are_written_once_and_updated_when_they_change(tmp_path: Path) -> None:
    folder = tmp_path / "new/out"
    assert export.write(folder, PAGES) == 2
    assert texts(folder) == PAGES
    listing = (folder / export.LISTING).read_text()
    assert export.write(folder, PAGES) == 0
    assert (folder / export.LISTING).read_text() == listing
    assert export.write(folder, {**PAGES, "timeline.md": "T2\n"}) == 1
    assert texts(folder) == {**PAGES, "timeline.md": "T2\n"}


def test_a_page_that_is_not_exported_this_time_stays(tmp_path: Path) -> None:
    export.write(tmp_path, PAGES)
    assert export.write(tmp_path, {"timeline.md": "only\n"}) == 1
    assert export.write(tmp_path, {"conversations/a.md": "A2\n"}) == 1
    assert texts(tmp_path) == {"conversations/a.md": "A2\n", "timeline.md": "only\n"}


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_file_that_somebody_else_wrote_or_changed_stops_all(
    tmp_path: Path, is_ours: bool
) -> None:
    if is_ours:
        export.write(tmp_path, PAGES)
    (tmp_path / "timeline.md").write_text("mine\n")
    before = texts(tmp_path)
    with pytest.raises(RefusedError) as refused:
        export.write(tmp_path, {"conversations/a.md": "A2\n", "timeline.md": "T\n"})
    assert str(refused.value) == (
        f"{tmp_path}/timeline.md was not written by ghp-agents, or was changed since."
    )
    assert texts(tmp_path) == before


@pytest.mark.parametrize("name", ["conversations", "timeline.md", export.LISTING])
def test_links_are_not_followed(tmp_path: Path, name: str) -> None:
    folder, outside = tmp_path / "out", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / name).symlink_to(outside / ("x" if "." in name else ""))
    with pytest.raises(RefusedError) as refused:
        export.write(folder, PAGES)
    assert str(refused.value) == f"{folder / name} is in the way: it is a link or a file."
    assert list(outside.iterdir()) == []


def test_killed_half_way_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export.write(tmp_path, PAGES)
    rewrite, done = user_file.rewrite, list[Path]()

    def dies(path: Path, before: bytes | None, after: bytes) -> None:
        if len(done) == 2:  # the listing and one page
            raise KeyboardInterrupt
        done.append(path)
        rewrite(path, before, after)

    monkeypatch.setattr(user_file, "rewrite", dies)
    fresh = {"conversations/a.md": "A2\n", "timeline.md": "T2\n"}
    with pytest.raises(KeyboardInterrupt):
        export.write(tmp_path, fresh)
    monkeypatch.undo()
    assert export.write(tmp_path, fresh) == 1
    assert texts(tmp_path) == fresh


def test_a_listing_that_cannot_be_read_protects_all(tmp_path: Path) -> None:
    export.write(tmp_path, PAGES)
    for bad in ("{", "[]", json.dumps({"timeline.md": 1}), "[" * 100_000):
        (tmp_path / export.LISTING).write_text(bad)
        with pytest.raises(RefusedError):
            export.write(tmp_path, {"timeline.md": "T2\n"})
