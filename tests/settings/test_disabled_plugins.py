"""Reading the settings leaves pydantic's plug-ins to the programs that this one starts."""

import os
import subprocess
import sys

import pytest

NAME = "PYDANTIC_DISABLE_PLUGINS"


@pytest.mark.parametrize("before", [None, "mine"])
def test_the_environment_is_as_it_was_after_the_settings_were_read(before: str | None) -> None:
    env = {k: v for k, v in os.environ.items() if k != NAME}
    env |= {NAME: before} if before else {}
    code = (
        "import os, ghp_agents.settings.schema; print(os.environ.get('PYDANTIC_DISABLE_PLUGINS'))"
    )
    shown = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert shown.stdout.strip() == str(before)
