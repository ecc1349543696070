"""New names that differ only in case are told with who adds them."""

from pathlib import Path

from tests.support.git import commit
from tests.support.rivals import agent, survey


def test_names_that_differ_only_in_case_are_told(repo: Path) -> None:
    for number, files in ((1, {"Src/a": "1", "readme.MD": "1"}), (2, {"src/b": "2"})):
        commit(agent(repo, f"worker-{number}", number), files)
    report = survey(repo)
    assert report.is_clean
    assert [(x.agents, x.paths) for x in report.spellings] == [
        (("worker-1",), ("readme.MD", "README.md")),
        (("worker-1", "worker-2"), ("Src", "src")),
    ]
    assert report.spellings[1].text == (
        "worker-1 (#1) adds Src, and worker-2 (#2) src. On macOS and Windows this is one name. "
        "Choose one spelling."
    )
