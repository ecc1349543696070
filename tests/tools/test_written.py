"""What `agent-init --github` writes passes the three tools that `make check` has for it."""

from pathlib import Path

import pytest

from tests.support import outside
from tools import emulate, workflows


@pytest.mark.slow
def test_what_is_written_for_github_has_nothing_wrong_with_it(tmp_path: Path) -> None:
    pytest.importorskip("check_jsonschema", reason="the extra `dev` is not installed")
    stand = outside.need("actionlint", emulate.ready)
    folder = workflows.written(tmp_path)
    assert folder is not None, "the command no longer has its option"
    found = workflows.files(folder)
    assert {schema: [each.name for each in paths] for schema, paths in found.items()} == {
        "vendor.github-workflows": ["agents.yml"],
        "vendor.github-issue-config": ["config.yml"],
        "vendor.github-issue-forms": ["epic.yml", "escalation.yml", "task.yml"],
    }
    assert workflows.check(folder, stand) == []
