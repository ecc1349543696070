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

from tests.support.house import CHECKOUT, sources
from tools import man_pages

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
RECALL = tomllib.loads((CHECKOUT / "recall/pyproject.toml").read_text())["project"]
LIMIT = 1_950_000  # bytes, all of code; the weights of the model, 7 MB, are another package


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(build(CHECKOUT, tmp_path_factory.mktemp("wheel"))) as opened:
        yield opened


def build(folder: Path, out: Path, **environ: str) -> Path:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    release = {**os.environ, "GHP_AGENTS_RELEASE": "1", **environ}
    done = subprocess.run(
        [*command, str(folder)], env=release, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("*.whl")
    return path


def requirements(wheel: zipfile.ZipFile, extra: str) -> set[str]:
    """What an extra of the wheel needs, without its versions and its marker."""
    (name,) = [each for each in wheel.namelist() if each.endswith("/METADATA")]
    needed = email.message_from_bytes(wheel.read(name)).get_all("Requires-Dist", [])
    return {each.partition(";")[0].strip() for each in needed if f"extra == '{extra}'" in each}


def test_all_names_are_the_same_program_and_it_exists() -> None:
    assert PROJECT["scripts"] == {
        "ghp": "ghp_agents.cli.main:main",
        "ghp-agents": "ghp_agents.cli.main:main",
        "ghpa": "ghp_agents.cli.main:main",
    }
    module, _, function = PROJECT["scripts"]["ghp"].partition(":")
    assert callable(getattr(import_module(module), function))


def test_the_light_core_does_not_ask_for_what_the_extras_bring() -> None:
    core, model = names(PROJECT["dependencies"]), names(RECALL["dependencies"])
    assert model == {"numpy", "tokenizers", "safetensors"}
    assert core & (model | {"mem0ai", RECALL["name"]}) == set()


@pytest.mark.slow  # builds four wheels
def test_a_release_names_the_index_and_its_repository_and_a_checkout_itself(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    assert requirements(wheel, "recall") == {"ghp-agents-recall>=0.1", "mem0ai>=2.2"}
    each = [requirements(wheel, name) for name in ("jq", "mcp", "recall", "syntax", "tui")]
    assert requirements(wheel, "all") == set().union(*each)
    with zipfile.ZipFile(build(CHECKOUT, tmp_path / "own", GHP_AGENTS_RELEASE="")) as own:
        folder = f"ghp-agents-recall @ {(CHECKOUT / 'recall').as_uri()}"
        assert requirements(own, "recall") == {folder, "mem0ai>=2.2"}
    address = "https://git.example/acme/ghp-agents"
    with zipfile.ZipFile(build(CHECKOUT, tmp_path / "new", GHP_AGENTS_RELEASE=address)) as new:
        assert requirements(new, "recall") == requirements(wheel, "recall")
        (name,) = [each for each in new.namelist() if each.endswith("/METADATA")]
        urls = email.message_from_bytes(new.read(name)).get_all("Project-URL", [])
        assert f"Security, {address}/blob/main/SECURITY.md" in urls
    with zipfile.ZipFile(build(CHECKOUT / "recall", tmp_path / "recall")) as package:
        assert {"ghp_agents_recall/minilm.py", "ghp_agents_recall/tuning.safetensors"} < {
            *package.namelist()
        }
    assert RECALL["version"] == PROJECT["version"]


def names(requirements: list[str]) -> set[str]:
    return {requirement.split(">")[0] for requirement in requirements}


def test_every_requirement_has_a_lower_bound() -> None:
    needed = [*PROJECT["dependencies"], *RECALL["dependencies"]]
    assert [requirement for requirement in needed if ">=" not in requirement] == []


@pytest.mark.slow
def test_the_wheel_has_every_module_every_template_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    modules = {
        source.path for source in sources("ghp_agents") if Path(CHECKOUT / source.path).exists()
    }
    templates = {
        f"ghp_agents/_templates/{source.path.partition('/')[2]}" for source in sources("templates")
    }
    info = f"ghp_agents-{PROJECT['version']}.dist-info"
    described = {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    assert templates, "there is a template for the handoff at least"
    assert "ghp_agents/py.typed" in modules
    described.add(f"{info}/licenses/LICENSE")
    data = f"ghp_agents-{PROJECT['version']}.data/data/share/man/man1"
    manual = {f"{data}/{name}" for name in man_pages.pages(PROJECT["version"])}
    assert set(wheel.namelist()) == modules | templates | manual | described


@pytest.mark.slow
def test_the_wheel_stays_small(wheel: zipfile.ZipFile) -> None:
    assert wheel.filename is not None
    assert Path(wheel.filename).stat().st_size < LIMIT


@pytest.mark.slow
def test_the_wheel_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    (metadata,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
    said = email.message_from_bytes(wheel.read(metadata))
    assert said["Name"] == "ghp-agents"
    assert said["Requires-Python"] == ">=3.11"
    assert said["License-Expression"] == "MIT"
    assert said["Project-URL"] == "Upstream GHP, https://github.com/bretwardjames/ghp"
    assert set(said.get_all("Provides-Extra", [])) == {
        "all",
        "dev",
        "docs",
        "jq",
        "mcp",
        "recall",
        "syntax",
        "test",
        "tui",
    }
    assert said.get_payload(decode=True) == (CHECKOUT / "README.md").read_bytes()


@pytest.mark.slow
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
