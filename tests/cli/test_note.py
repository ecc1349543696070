"""`agent-remember`, `agent-recall` and `agent-notes`, as their users call them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.endpoint import Model, serving
from tests.support.ghp import Result, invoke, run_ghp
from tests.support.git import commit, git
from tests.support.memory import needs_mem0, needs_model

ONE, TWO = {"GHP_AGENT": "worker-1"}, {"GHP_AGENT": "worker-2"}
CORS = "Staging drops OPTIONS requests at the ingress"
JWT = "We authenticate to the API with JWTs signed by the identity service"


def tell(repo: Path, text: str, *words: str, env: dict[str, str] = ONE) -> str:
    """Tell a note; its id."""
    result = invoke(["agent-remember", text, *words], repo, env)
    assert result.code == 0, result.err
    return result.out.strip()


def test_a_note_is_told_once_and_its_id_printed(repo: Path) -> None:
    first = invoke(["agent-remember", CORS, "--kind", "gotcha"], repo, ONE)
    name = first.out.strip()
    assert first == Result(0, f"{name}\n", f"✓ Saved {name}: {CORS}\n")
    again = invoke(["agent-remember", f"{CORS}."], repo, TWO)
    assert again == Result(0, f"{name}\n", f"Already saved as {name}.\n")


def test_a_note_comes_from_standard_input(repo: Path) -> None:
    assert invoke("agent-remember -", repo, ONE, stdin="One\nTwo\n").code == 0
    (note,) = json.loads(invoke("agent-notes list --json", repo).out)
    assert note["text"] == "One\nTwo"


def test_patterns_count_from_the_folder_in_which_they_are_said(repo: Path) -> None:
    commit(repo, {"src/parser/a.py": "x"})
    tell(repo / "src", CORS, "--path", "./parser/")
    (note,) = json.loads(invoke("agent-notes list --path parser/a.py --json", repo / "src").out)
    assert note["paths"] == ["/src/parser/"]
    assert invoke("agent-notes list --path src/b.py --json", repo).out == "[]\n"
    outside = invoke("agent-notes list --path ../x", repo)
    assert (outside.code, outside.out) == (2, "")


@pytest.mark.slow
@needs_model
def test_recall_finds_what_is_meant_and_says_who_learnt_it_when_and_where(repo: Path) -> None:
    tell(repo, CORS)
    name = tell(repo, JWT, "--kind", "decision")
    head = git(repo, "rev-parse", "HEAD")[:12]
    result = invoke(["agent-recall", "how do callers prove who they are", "--limit", "1"], repo)
    assert result.code == 0
    assert result.err == ""
    heading, text = result.out.splitlines()
    assert heading.startswith(f"{name} decision, by agent worker-1, ")
    assert heading.endswith(f" ago, commit {head}")
    assert text == f"> {JWT}"


@pytest.mark.slow
@needs_model
def test_recall_as_json_is_a_bare_list(repo: Path) -> None:
    assert invoke("agent-recall anything --json", repo).out == "[]\n"
    name = tell(repo, JWT)
    (hit,) = json.loads(invoke("agent-recall 'JWTs for the API' --json", repo).out)
    assert (hit["id"], hit["text"], hit["state"]) == (name, JWT, "active")
    assert 0.3 < hit["score"] < 1.3


def test_where_there_is_no_note_recall_says_how_to_make_one(repo: Path) -> None:
    result = invoke("agent-recall anything", repo)
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith("No notes yet. Save one with `ghp agent-remember TEXT`.\n")


def test_without_mem0_recall_compares_words_and_says_so_once(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghp_agents.notes.search.select.has_mem0", lambda: False)
    tell(repo, CORS)
    first = invoke("agent-recall 'options on staging'", repo)
    assert f"> {CORS}" in first.out
    assert first.err.startswith(
        "Warning: mem0 is not installed: notes are searched by words, not by meaning.\nHint: "
        "Install it: "
    )
    assert invoke("agent-recall 'options on staging'", repo).err == ""
    result = invoke("agent-doctor", repo, ONE)
    assert "• mem0 is not installed" in result.out
    assert "[recall]'" in result.out


@pytest.mark.slow
def test_a_broken_set_up_does_not_keep_anybody_from_an_answer(repo: Path, home: Path) -> None:
    config = home / ".config/ghp-cli/config.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"agents": {"memory": {"vectorStore": {"provider": "nowhere"}}}}')
    tell(repo, CORS)
    result = invoke("agent-recall 'options on staging'", repo)
    assert f"> {CORS}" in result.out
    assert result.code == 0


def test_a_repository_cannot_name_engines_and_the_doctor_says_so(repo: Path) -> None:
    settings = {
        "agents": {"memory": {"llm": {"provider": "vllm"}, "infer": True, "project": "shop"}}
    }
    commit(repo, {".ghp/config.json": json.dumps(settings)})
    assert tell(repo, CORS), "no model was asked"
    result = invoke("agent-doctor", repo, ONE)
    assert "`memory.infer`, `memory.llm` in .ghp/config.json is ignored" in result.out


@pytest.mark.slow
@needs_mem0
def test_a_language_model_splits_what_is_told_unless_it_is_to_be_kept_word_for_word(
    repo: Path, home: Path
) -> None:
    path = home / ".config/ghp-cli/config.json"
    path.parent.mkdir(parents=True)
    facts = {"memory": [{"text": "The port is 80"}, {"text": "The host is blue"}]}
    model = Model(json.dumps(facts))
    with serving(model) as address:
        llm = {
            "provider": "vllm",
            "config": {"model": "m", "vllm_base_url": address, "api_key": "none"},
        }
        path.write_text(json.dumps({"agents": {"memory": {"llm": llm, "infer": True}}}))
        result = invoke(["agent-remember", "It runs on blue, port 80"], repo, ONE)
        assert (result.code, len(result.out.split())) == (0, 2)
        model.answer = "nothing of use"
        failed = invoke(["agent-remember", "And on red"], repo, ONE)
        assert (failed.code, failed.out) == (1, "")
        assert "Nothing was stored." in failed.err
        assert "Hint: To store the text as it is, add `--verbatim`." in failed.err
        tell(repo, "And on red", "--verbatim")
    notes = json.loads(invoke("agent-notes list --json", repo).out)
    assert [note["text"] for note in notes] == ["The port is 80", "The host is blue", "And on red"]


def test_listing_shows_what_is_active_and_all_on_request(repo: Path) -> None:
    old = tell(repo, "Port 80")
    new = invoke(["agent-remember", "Port 8080", "--supersedes", old[:6]], repo, ONE)
    name = new.out.strip()
    assert new.err == (
        f"✓ Saved {name}: Port 8080\n✓ It replaces {old}, which no longer appears in searches.\n"
    )
    shown = invoke("agent-notes list", repo).out.splitlines()
    assert shown[0].split() == ["ID", "STATE", "KIND", "ISSUE", "BY", "SAVED", "NOTE"]
    assert len(shown) == 2
    assert shown[1].startswith(name[:6])
    assert shown[1].endswith("Port 8080")
    everything = json.loads(invoke("agent-notes list --all --json", repo).out)
    assert [(note["text"], note["state"], note["supersededBy"]) for note in everything] == [
        ("Port 80", "superseded", name), ("Port 8080", "active", None),
    ]  # fmt: skip


def test_showing_a_note_says_all_that_is_known_of_it(repo: Path) -> None:
    name = tell(repo, "Port 80\nfor all", "--kind", "gotcha", "--expires", "2099-01-01")
    edited = invoke(["agent-notes", "edit", name, "--kind", "fact"], repo, TWO)
    assert edited == Result(0, "", f"✓ Changed {name}: Port 80\n")
    lines = invoke(f"agent-notes show {name[2:8]}", repo).out.splitlines()
    assert lines[:3] == [name, "State: active", "Kind: fact"]
    assert lines[3].startswith("By: agent worker-1, 20")
    assert lines[4].startswith(f"Branch: main {git(repo, 'rev-parse', 'HEAD')[:12]}")
    assert lines[5] == "Until: 2099-01-01"
    assert lines[6].startswith("Changed by: worker-2, 20")
    assert lines[7:] == ["", "Port 80", "for all"]


def test_an_edit_that_changes_nothing_says_so(repo: Path) -> None:
    name = tell(repo, "Port 80")
    assert invoke(["agent-notes", "edit", name, "Port 80"], repo, ONE).err == (
        f"{name} is already like that.\n"
    )


@pytest.mark.slow
@needs_model
def test_forgetting_takes_a_note_out_of_the_state_and_the_index(repo: Path) -> None:
    name = tell(repo, "The wombat is on port 80")
    assert invoke("agent-recall wombat", repo).out
    gone = invoke(f"agent-notes forget {name}", repo, ONE)
    assert gone == Result(
        0,
        "",
        f"✓ Deleted {name}.\n"
        "Warning: git's history still has its text, here and in every clone that has synced.\n"
        "Hint: If it was a secret, change the secret.\n",
    )
    assert invoke("agent-recall wombat", repo).out == ""
    index = repo / ".git/ghp/index"
    held = b"".join(path.read_bytes() for path in index.rglob("*") if path.is_file())
    assert b"wombat" not in held
    assert invoke(f"agent-notes forget {name}", repo, ONE).err == f"{name} is already deleted.\n"
    refused = invoke(["agent-remember", "the wombat is on port 80"], repo, ONE)
    assert (refused.code, refused.out) == (3, "")


@pytest.mark.slow
@needs_model
def test_indexing_twice_changes_nothing_the_second_time(repo: Path) -> None:
    tell(repo, CORS)
    tell(repo, JWT)
    first, second = (invoke("agent-notes reindex", repo) for _ in range(2))
    assert first == Result(0, "", "✓ Indexed 2 notes: 2 added, 0 changed, 0 removed.\n")
    assert second == Result(0, "", "✓ Nothing to do: 2 notes indexed.\n")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("agent-remember ''", 2), ("agent-remember x --issue 99", 1),
        ("agent-remember x --supersedes ffff", 1), ("agent-remember x --kind rumour", 2),
        ("agent-remember x --expires soon", 2), ("agent-recall ''", 2),
        ("agent-recall x --limit 0", 2), ("agent-notes show ffff", 1),
        ("agent-notes edit ffff x", 1), ("agent-notes forget ffff", 1),
        ("agent-notes edit ffff", 2),
    ],
)  # fmt: skip
def test_errors_have_their_exit_codes_and_leave_nothing(repo: Path, words: str, code: int) -> None:
    result = invoke(words, repo, ONE)
    assert (result.code, result.out) == (code, "")
    assert "Error: " in result.err
    assert invoke("agent-notes list --all --json", repo).out == "[]\n"


@pytest.mark.slow
def test_control_sequences_never_reach_the_terminal(repo: Path) -> None:
    name = tell(repo, "\x1b]0;title\x07\x1b[31mred")
    for words in ("agent-notes list", f"agent-notes show {name}", "agent-recall red"):
        result = invoke(words, repo)
        assert "\x1b" not in result.out + result.err


@pytest.mark.slow
def test_resume_and_handoff_bring_what_is_known(repo: Path) -> None:
    assert invoke("agent-issue new 'Add the dashboard'", repo).code == 0
    git(repo, "checkout", "--quiet", "-b", "agent/worker-1/1-dashboard")
    offered = "Did you learn something that others need? Save it: `ghp agent-remember TEXT`.\n"
    assert offered in invoke("agent-handoff", repo, ONE).err
    of_issue = tell(repo, "The dashboard polls every minute")
    of_place = tell(repo, "Never edit by hand", "--path", "dash.py", "--issue", "1")
    tell(repo, "Nothing to do with it", env=TWO)
    (repo / "dash.py").write_text("x = 1\n")
    shown = invoke("agent-resume", repo, TWO).out
    section = shown.partition("## Saved notes\n")[2].partition("\n## ")[0]
    assert f"- {of_issue}, fact by agent worker-1, " in section
    assert f"- {of_place}, " in section
    handed = invoke("agent-handoff --stdout", repo, ONE)
    assert "## Saved notes\n" in handed.out
    assert "«The dashboard polls every minute»" in handed.out
    assert offered not in handed.err


@pytest.mark.slow
def test_notes_reach_other_clones_and_forgetting_does_as_well(
    clones: Callable[[int], list[Path]],
) -> None:
    one, two = clones(2)
    name = tell(one, CORS)
    assert tell(two, CORS, env=TWO) == name, "the same fact has the same id before any sync"
    for clone in (one, two, one):
        assert run_ghp("agent-sync", clone).code == 0
    assert invoke(f"agent-notes forget {name}", one, ONE).code == 0
    for clone in (one, two, one):
        assert run_ghp("agent-sync", clone).code == 0
    for clone in (one, two):
        (note,) = json.loads(invoke("agent-notes list --all --json", clone).out)
        assert (note["state"], note["text"]) == ("forgotten", "")
        state = clone / ".git/ghp/state.git"
        for ref in git(state, "for-each-ref", "--format=%(refname)").splitlines():
            listed = git(state, "ls-tree", "-r", "--name-only", ref, ".ghp/notes").splitlines()
            texts = "".join(git(state, "show", f"{ref}:{path}") for path in listed)
            assert "OPTIONS" not in texts
