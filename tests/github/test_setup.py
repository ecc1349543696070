"""What GitHub reads from a repository: written once, never over a user's file, taken away again."""

import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.errors import GhpError, NotSetUpError, RefusedError
from ghp_agents.github import setup as github_setup
from ghp_agents.github.accounts import Names
from ghp_agents.github.labels import standard
from ghp_agents.github.setup import SetupPlan
from ghp_agents.github.tracker import mapping as github_issue
from ghp_agents.issues.body_sections import outline
from ghp_agents.issues.capabilities import needed
from ghp_agents.issues.dependencies import NEEDS_HUMAN
from ghp_agents.issues.issue import PRIORITIES, Issue
from ghp_agents.issues.scope import scope
from ghp_agents.pulls import body_template as pull_body
from ghp_agents.pulls.body_template import TEMPLATES, TemplateSection
from ghp_agents.workspace import Workspace, open_workspace
from tests.support import forms, repos
from tests.support.git import commit, git

FORMS = ".github/ISSUE_TEMPLATE"
TASK, AGENT_PULL = f"{FORMS}/task.yml", ".github/PULL_REQUEST_TEMPLATE/agent.md"
FILES = [
    f"{FORMS}/config.yml", f"{FORMS}/epic.yml", f"{FORMS}/escalation.yml", TASK, AGENT_PULL,
    ".github/workflows/agents.yml",
]  # fmt: skip
ACTION = "acme/ghp-agents@08c6903cd8c0fde910a37f88322edcfb5dd907a8"


@pytest.fixture
def ws(repo: Path) -> Workspace:
    """A repository with nothing for GitHub in it."""
    return open_workspace(repo, {})


def to_write(ws: Workspace) -> SetupPlan:
    """What is to be written where the action is known."""
    return github_setup.to_write(ws, ACTION)


def carry_out(plan: SetupPlan) -> list[str]:
    for step in plan.steps:
        step.act()
    return [f"{step.did} {step.what}" for step in plan.steps]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file outside of `.git`."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    below = ((path.relative_to(folder), path) for path in paths)
    return {str(name): path.read_bytes() for name, path in below if name.parts[0] != ".git"}


# ------------------------------------------------------------------------------ writing


def test_all_is_written_once_and_a_second_time_nothing(ws: Workspace) -> None:
    assert carry_out(to_write(ws)) == [f"Wrote {path}" for path in FILES]
    assert to_write(ws) == SetupPlan((), ())
    assert sorted(tree(ws.folder)) == sorted(["README.md", *FILES])


def test_planning_writes_nothing(ws: Workspace) -> None:
    to_write(ws)
    assert sorted(tree(ws.folder)) == ["README.md"]


def test_a_users_file_stays_and_what_ours_would_change_is_told(ws: Workspace) -> None:
    commit(ws.folder, {TASK: "name: Ours\ndescription: A task\nbody: []\n"})
    plan = to_write(ws)
    assert carry_out(plan) == [f"Wrote {path}" for path in FILES if path != TASK]
    assert (ws.folder / TASK).read_text() == "name: Ours\ndescription: A task\nbody: []\n"
    (kept,) = plan.kept
    assert kept.path == TASK
    lines = kept.change.splitlines()
    assert lines[:2] == [f"--- a/{TASK}", f"+++ b/{TASK}"]
    assert "-name: Ours" in lines
    assert "+name: Task" in lines


def test_what_an_older_version_wrote_is_brought_up_to_date(ws: Workspace) -> None:
    commit(ws.folder, {TASK: github_setup.marked(TASK, "name: Old\n")})
    assert carry_out(to_write(ws)) == [f"Wrote {path}" for path in FILES]
    assert "name: Task\n" in (ws.folder / TASK).read_text()


def test_one_changed_letter_makes_a_file_the_users(ws: Workspace) -> None:
    carry_out(to_write(ws))
    text = (ws.folder / TASK).read_text().replace("name: Task", "name: Job")
    (ws.folder / TASK).write_text(text)
    plan = to_write(ws)
    assert [kept.path for kept in plan.kept] == [TASK]
    assert plan.steps == ()
    assert (ws.folder / TASK).read_text() == text


def test_lines_that_git_gave_other_ends_are_the_same(ws: Workspace) -> None:
    carry_out(to_write(ws))
    for path in FILES:
        (ws.folder / path).write_bytes((ws.folder / path).read_bytes().replace(b"\n", b"\r\n"))
    assert to_write(ws) == SetupPlan((), ())
    assert len(github_setup.to_take(ws).steps) == len(FILES)


def test_what_somebody_writes_at_that_moment_stays(ws: Workspace) -> None:
    first = to_write(ws).steps[3]
    assert first.what == TASK
    commit(ws.folder, {TASK: "theirs\n"})
    with pytest.raises(GhpError, match="Another process just wrote"):
        first.act()
    assert (ws.folder / TASK).read_text() == "theirs\n"


def test_it_is_written_into_the_worktree_that_one_is_in(ws: Workspace, tmp_path: Path) -> None:
    git(ws.folder, "worktree", "add", "--quiet", "-b", "forms", str(tmp_path / "forms"))
    carry_out(to_write(open_workspace(tmp_path / "forms", {})))
    assert (tmp_path / "forms" / TASK).is_file()
    assert sorted(tree(ws.folder)) == ["README.md"]


def test_a_link_that_leads_out_of_the_repository_is_refused_before_anything(
    ws: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (ws.folder / ".github").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError, match="outside the worktree"):
        to_write(ws)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_bare_repository_has_nowhere_to_write(remote: Path) -> None:
    with pytest.raises(NotSetUpError, match="no worktree"):
        to_write(open_workspace(remote, {}))


def test_without_an_action_that_can_be_pinned_there_is_no_workflow(ws: Workspace) -> None:
    wrote = [step.what for step in github_setup.to_write(ws).steps]
    assert wrote == FILES[:-1]
    assert github_setup.lacks_workflow(ws)
    carry_out(to_write(ws))
    assert not github_setup.lacks_workflow(ws)
    assert f"uses: {ACTION}\n" in (ws.folder / FILES[-1]).read_text()


def test_a_workflow_that_installs_by_name_is_not_a_safe_one(ws: Workspace) -> None:
    old = github_setup.marked(FILES[-1], 'run: pip install "ghp-agents==0.1.0"\n')
    commit(ws.folder, {FILES[-1]: old})
    assert github_setup.lacks_workflow(ws)
    carry_out(to_write(ws))
    assert "pip install" not in (ws.folder / FILES[-1]).read_text()


# ------------------------------------------------------------------------------ taking away


def test_all_that_is_unchanged_goes_with_its_folders(ws: Workspace) -> None:
    before = tree(ws.folder)
    carry_out(to_write(ws))
    assert carry_out(github_setup.to_take(ws)) == [f"Removed {path}" for path in sorted(FILES)]
    assert tree(ws.folder) == before
    assert not (ws.folder / ".github").exists()
    assert github_setup.to_take(ws) == SetupPlan((), ())


def test_what_was_changed_or_is_the_users_stays(ws: Workspace) -> None:
    theirs = {".github/workflows/ci.yml": "on: push\n", f"{FORMS}/config.yml": "mine: true\n"}
    commit(ws.folder, theirs)
    carry_out(to_write(ws))
    with (ws.folder / AGENT_PULL).open("a") as file:
        file.write("- [ ] The changelog says it\n")
    plan = github_setup.to_take(ws)
    carry_out(plan)
    assert sorted(kept.path for kept in plan.kept) == [f"{FORMS}/config.yml", AGENT_PULL]
    assert sorted(tree(ws.folder)) == sorted([*theirs, AGENT_PULL, "README.md"])


def test_a_file_that_only_an_older_version_wrote_goes_too(ws: Workspace) -> None:
    old = f"{FORMS}/old.yml"
    commit(ws.folder, {old: github_setup.marked(old, "name: Old\n")})
    assert carry_out(github_setup.to_take(ws)) == [f"Removed {old}"]


def test_what_is_changed_between_looking_and_removing_stays(ws: Workspace) -> None:
    carry_out(to_write(ws))
    steps = {step.what: step for step in github_setup.to_take(ws).steps}
    (ws.folder / TASK).write_text("theirs\n")
    with pytest.raises(GhpError, match="it was not changed"):
        steps[TASK].act()
    assert (ws.folder / TASK).read_text() == "theirs\n"


ours = st.sampled_from(["name: Old\n", "", "# Made by nobody\n", "name: Ü\r\n"]).map(
    lambda text: github_setup.marked(TASK, text).encode()
)
content = st.one_of(st.binary(max_size=80), st.text(max_size=80).map(str.encode), ours)
some_files = st.dictionaries(
    st.sampled_from([*FILES, f"{FORMS}/bug.yml", ".github/workflows/ci.yml", "src/a.py"]),
    content,
    max_size=6,
)


@pytest.mark.slow
@given(before=some_files, edits=some_files)
def test_whatever_a_user_has_or_changes_is_there_afterwards(
    templates: repos.Templates, before: dict[str, bytes], edits: dict[str, bytes]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = repos.copy_alone(templates, Path(place) / "repo")
        ws = open_workspace(folder, {})
        put(folder, before)
        carry_out(to_write(ws))
        put(folder, edits)
        carry_out(github_setup.to_take(ws))
        left = tree(folder)
    theirs = {path: data for path, data in {**before, **edits}.items() if not made_by_us(data)}
    assert {path: left.get(path) for path in theirs} == theirs
    assert left.keys() <= {*before, *edits, "README.md"}


def put(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def made_by_us(data: bytes) -> bool:
    return github_setup.is_ours(data.decode("utf-8", "replace").replace("\r\n", "\n"))


# ------------------------------------------------------------------------------ what they say


def form(ws: Workspace, name: str) -> dict[str, object]:
    fields = yaml.safe_load(github_setup.wanted(ws, ACTION)[f"{FORMS}/{name}.yml"])
    assert isinstance(fields, dict)
    return fields


def create_issue(ws: Workspace, name: str, **answers: str) -> Issue:
    """The issue that the tracker makes of a form, as a stranger filled it in."""
    form_fields = form(ws, name)
    labels = form_fields.get("labels", [])
    assert isinstance(labels, list)
    given = {key.replace("_", "-"): answer for key, answer in answers.items()}
    issue_json = {
        "number": 7, "id": 1, "title": "Read the file", "state": "open",
        "body": forms.answered(form_fields, given),
        "labels": [{"name": label} for label in labels],
        "user": {"login": "stranger"}, "created_at": "2026-01-25T10:30:00Z",
        "updated_at": "2026-01-25T10:30:00Z",
    }  # fmt: skip
    return github_issue.issue(github_issue.kept(issue_json), Names())


def test_every_answer_of_a_task_comes_back(ws: Workspace) -> None:
    issue = create_issue(
        ws, "task", goal="Files are read.\n\nAs a whole.", acceptance="- [ ] It does\n- [x] Fast",
        scope="src/parser/\n# not this: src/x\n*.md\n**/gen_*.py", blocked_by="#12, #13",
        capabilities="Rust, browser", priority="high",
    )  # fmt: skip
    assert issue.blocked_by == (12, 13)
    assert issue.priority == "high"
    assert needed(issue) == {"rust", "browser"}
    assert scope(issue.body) == ("/src/parser/", "*.md", "gen_*.py")
    read = outline(issue.body)
    assert read.goal == "Files are read.\n\nAs a whole."
    assert read.acceptance == "Acceptance\n\n- [ ] It does\n- [x] Fast"
    assert (read.tasks_open, read.tasks) == (1, 2)
    assert (issue.labels, issue.assignees) == ((), ())


def test_a_task_with_only_what_must_be_there_says_nothing_else(ws: Workspace) -> None:
    issue = create_issue(ws, "task", goal="Files are read.", acceptance="It reads.")
    assert (issue.blocked_by, issue.priority, needed(issue)) == ((), "medium", frozenset())
    assert scope(issue.body) == ()
    assert scope(issue.body.replace("_No response_", "```gitignore\n\n```")) == ()


@pytest.mark.parametrize("priority", PRIORITIES)
@pytest.mark.parametrize("name", ["task", "epic", "escalation"])
def test_each_priority_that_can_be_chosen_is_one(ws: Workspace, name: str, priority: str) -> None:
    required = {
        "task": {"goal": "A", "acceptance": "B"},
        "epic": {"goal": "A", "acceptance": "B"},
        "escalation": {"question": "A", "context": "B"},
    }
    assert create_issue(ws, name, **required[name], priority=priority).priority == priority


def test_an_epic_is_labelled_as_one(ws: Workspace) -> None:
    issue = create_issue(
        ws, "epic", goal="All", acceptance="Done", parts="- [ ] Parser\n- [ ] Formatter"
    )
    assert issue.labels == ("epic",)
    assert outline(issue.body).tasks == 2


def test_an_escalation_gives_no_work_to_anybody_and_blocks_nothing(ws: Workspace) -> None:
    issue = create_issue(ws, "escalation", question="Tabs?", context="None", blocks="#12")
    assert (issue.labels, issue.assignees, issue.blocked_by) == ((NEEDS_HUMAN,), (), ())


def test_an_escalation_goes_to_the_people_whom_the_configuration_names(repo: Path) -> None:
    (repo / ".ghp").mkdir()
    (repo / ".ghp/config.json").write_text(
        '{"agents": {"escalateTo": ["ada", "@bob-2", "acme/core", "123"],'
        ' "needsHumanLabel": "it\'s: for #people"}}'
    )
    form_fields = form(open_workspace(repo, {"HOME": "/nonexistent"}), "escalation")
    assert form_fields["assignees"] == ["ada", "bob-2", "123"]
    assert form_fields["labels"] == ["it's: for #people"]


def test_the_labels_that_forms_set_are_made(ws: Workspace) -> None:
    names = {label.name for label in standard()}
    for name in ("task", "epic", "escalation"):
        labels = form(ws, name).get("labels", [])
        assert isinstance(labels, list)
        assert names.issuperset(labels)


def test_the_template_for_pull_requests_is_the_one_that_is_filled_first(ws: Workspace) -> None:
    assert TEMPLATES[0] == AGENT_PULL
    filled = pull_body.filled(
        github_setup.wanted(ws, ACTION)[AGENT_PULL],
        [
            TemplateSection("what", "What", "The parser."),
            TemplateSection("why", "Why", "Files."),
            TemplateSection("evidence", "Evidence", "1 commit."),
            TemplateSection("handoff", "Handoff", "Nothing left."),
            TemplateSection("questions", "Questions", ""),
            TemplateSection("closes", "Issue", "Closes #7"),
        ],
    )
    assert filled == (
        "## What\n\nThe parser.\n\n## Why\n\nFiles.\n\n## Evidence\n\n1 commit.\n\n"
        "## Review\n\n- [ ] The change does what the issue asks for, and no more\n"
        "- [ ] The evidence proves it\n\n## Handoff\n\nNothing left.\n\nCloses #7\n"
    )
