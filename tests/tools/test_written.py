"""What `agent-init --github` writes passes the three tools that `make check` has for it."""

import os
import pwd
from pathlib import Path

import pytest

from tests.support import guard
from tools import clients, emulate, workflows


def test_what_is_written_for_github_has_nothing_wrong_with_it(tmp_path: Path) -> None:
    pytest.importorskip("check_jsonschema", reason="the extra `dev` is not installed")
    try:
        with guard.machine_path():
            stand = emulate.ready(home=pwd.getpwuid(os.getuid()).pw_dir)
    except clients.UnreachableError as error:
        pytest.skip(f"the registry of npm cannot be reached: {str(error).splitlines()[0]}")
    folder = workflows.written(tmp_path)
    assert folder is not None, "the command no longer has its option"
    found = workflows.files(folder)
    assert {schema: [each.name for each in paths] for schema, paths in found.items()} == {
        "vendor.github-workflows": ["agents.yml"],
        "vendor.github-issue-config": ["config.yml"],
        "vendor.github-issue-forms": ["epic.yml", "escalation.yml", "task.yml"],
    }
    assert workflows.check(folder, stand) == []
