"""`agent-work --runner openai` with a real model, where GHP_TEST_MODEL_URL names an endpoint."""

import os
from pathlib import Path

import pytest

from tests.support.ghp import run_ghp
from tests.support.runs import shift_of

pytestmark = pytest.mark.slow
TASK = "Write a file hello.txt with the word hello, commit it, then run ghp agent-finish"


def test_a_real_model_changes_a_file(repo: Path) -> None:
    url, model = os.environ.get("GHP_TEST_MODEL_URL"), os.environ.get("GHP_TEST_MODEL", "")
    if not url:
        pytest.skip("GHP_TEST_MODEL_URL names no endpoint with a model")
    shift = shift_of(repo, TASK)
    endpoint = [f"--url={url}", *([f"--model={model}"] if model else [])]
    try:
        done = run_ghp(
            ["agent-work", "--agent", "night", "--runner", "openai", "--once", "--", *endpoint],
            shift.repo,
        )
        assert (Path(shift.last().path) / "hello.txt").exists(), done.err
    finally:
        shift.end_all()
