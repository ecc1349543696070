"""The measures of the package's structure, and of what its commands ask for."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT
from tools import costs, measures


def test_statements_count_however_they_share_lines_and_texts_do_not() -> None:
    module = ast.parse('"""What it does."""\nx = 1; y = 2\nif x:\n    "a remark"\n    pass\n')
    assert measures.statements(module) == 4


def test_protocols_are_told_from_other_classes() -> None:
    module = ast.parse("class A(Protocol): ...\nclass B(Protocol[T]): ...\nclass C(A): ...\n")
    assert measures.protocols(module) == 2


def test_a_folder_imports_parts_by_name_late_and_early_but_not_itself(tmp_path: Path) -> None:
    root, path = tmp_path / "ghp_agents", tmp_path / "ghp_agents/sync/a/b.py"
    module = ast.parse(
        "import os\nimport ghp_agents.core.clock\nfrom ghp_agents import ports\n"
        "from ghp_agents.sync import service\n"
        "def run():\n    from ghp_agents.leases.record import LeaseEvent\n"
    )
    other = ast.parse("from ghp_agents.notes import note\n")
    trees = {path: module, root / "cli/a.py": other}
    assert measures.imported_parts(root, trees, "sync") == {"core", "ports", "leases"}


def test_all_that_is_counted_exists() -> None:
    assert costs.missing() == [], "Name in tools/costs.py what replaced it."


@pytest.mark.slow
def test_what_a_command_asks_for_is_counted_with_the_places_that_ask(
    repo: Path, tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    subprocess.run(
        [sys.executable, "-P", "-m", "tools.costs", str(result), "agent-issues"],
        cwd=repo,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        check=True,
    )
    cost = costs.Cost(**json.loads(result.read_text()))
    assert cost.folds == 0  # there are no records yet
    assert cost.snapshots >= 1
    assert cost.calls > cost.functions > 100
    for count, measure in (
        (cost.snapshots, "snapshots"),
        (cost.opened, "files opened"),
    ):
        assert sum(cost.places[measure].values()) == count
        assert all(".py:" in place for place in cost.places[measure])
    assert costs.table({"agent-issues": cost})[2].startswith(
        f"| agent-issues | {cost.snapshots} | {cost.listings} | {cost.folds} | {cost.processes} |"
    )
