"""What users get: the wheel has all that the program needs and nothing else."""

import email
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from ghp_agents.notes.search.minilm import TUNING
from tests.support.house import CHECKOUT, sources

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    done = subprocess.run([*build, str(CHECKOUT)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as opened:
        yield opened


def test_both_commands_are_the_same_program_and_it_exists() -> None:
    assert PROJECT["scripts"] == {
        "ghp": "ghp_agents.cli.main:main",
        "ghp-agents": "ghp_agents.cli.main:main",
    }
    module, _, function = PROJECT["scripts"]["ghp"].partition(":")
    assert callable(getattr(import_module(module), function))


def test_the_light_core_does_not_ask_for_what_the_extras_bring() -> None:
    heavy = {"mem0ai", "numpy", "tokenizers", "safetensors"}
    core = {requirement.split(">")[0] for requirement in PROJECT["dependencies"]}
    memory = {
        requirement.split(">")[0] for requirement in PROJECT["optional-dependencies"]["memory"]
    }
    assert core & heavy == set()
    assert memory == heavy
    assert PROJECT["optional-dependencies"]["all"] == ["ghp-agents[memory]"]


def test_every_requirement_has_a_lower_bound() -> None:
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["memory"]]
    assert [requirement for requirement in needed if ">=" not in requirement] == []


def test_the_wheel_has_every_module_every_template_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    modules = {
        source.path for source in sources("ghp_agents") if Path(CHECKOUT / source.path).exists()
    }
    weights = {TUNING.relative_to(CHECKOUT).as_posix()}
    templates = {
        f"ghp_agents/_templates/{source.path.partition('/')[2]}" for source in sources("templates")
    }
    info = f"ghp_agents-{PROJECT['version']}.dist-info"
    described = {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    assert templates, "there is a template for the handoff at least"
    assert "ghp_agents/py.typed" in modules
    described.add(f"{info}/licenses/LICENSE")
    assert set(wheel.namelist()) == modules | weights | templates | described


def test_the_wheel_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    (metadata,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
    said = email.message_from_bytes(wheel.read(metadata))
    assert said["Name"] == "ghp-agents"
    assert said["Requires-Python"] == ">=3.11"
    assert said["License-Expression"] == "MIT"
    assert set(said.get_all("Provides-Extra", [])) == {"all", "dev", "memory", "test"}
    assert said.get_payload(decode=True) == (CHECKOUT / "README.md").read_bytes()


def test_the_program_in_the_wheel_finds_its_templates(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    wheel.extractall(tmp_path / "lib")
    code = (
        "import ghp_agents.core.templates as t; from pathlib import Path;"
        "path = t.shipped(Path(t.__file__).parents[1]) / 'handoff.md.j2';"
        "print(t.__file__); print(path); print(path.is_file())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "lib")},
        capture_output=True,
        text=True,
    )
    package = tmp_path / "lib/ghp_agents"
    expected = [f"{package}/core/templates.py", f"{package}/_templates/handoff.md.j2", "True"]
    assert done.stdout.splitlines() == expected, done.stderr
