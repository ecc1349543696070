"""How this program was installed, and how to install it again from there."""

import json

import pytest

from ghp_agents.core.distribution import requirement

VCS = {"vcs": "git", "commit_id": "0" * 40}


@pytest.mark.parametrize(
    ("note", "words"),
    [
        ("", ["ghp-agents[memory]==1.2"]),
        (
            {"url": "https://github.com/acme/ghp-agents", "vcs_info": VCS},
            [f"ghp-agents[memory] @ git+https://github.com/acme/ghp-agents@{'0' * 40}"],
        ),
        (
            {"url": "file:///a%20b/checkout", "dir_info": {"editable": True}},
            ["--editable", "/a b/checkout[memory]"],
        ),
        ({"url": "file:///src", "dir_info": {}}, ["/src[memory]"]),
        (
            {"url": "file:///dist/x.whl", "archive_info": {}},
            ["ghp-agents[memory] @ file:///dist/x.whl"],
        ),
        ({"url": 1, "vcs_info": "?"}, [".[memory]"]),
        ([], [".[memory]"]),
    ],
)
def test_the_extra_comes_from_where_the_program_came_from(note: object, words: list[str]) -> None:
    text = note if isinstance(note, str) else json.dumps(note)
    assert requirement(text, "1.2", "memory") == words
