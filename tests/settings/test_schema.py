"""The configuration files: errors with their lines, unknown keys, who wins, and the cache."""

import json
from pathlib import Path
from textwrap import dedent

import pytest

from ghp_agents.core.errors import ExitCode
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.settings import schema as config
from ghp_agents.settings.schema import ConfigError, Fault
from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.consent import configure
from tests.support.git import git


def text(indented: str) -> str:
    return dedent(indented).strip()


def workspace(repo: Path, home: Path) -> Workspace:
    return open_workspace(repo, {"HOME": str(home)}, ManualClock())


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def of_repo(repo: Path, content: str) -> Path:
    return write(repo / ".ghp/config.json", content)


def of_trunk(repo: Path, home: Path, content: str) -> None:
    """On the trunk, and agreed to."""
    configure(repo, json.loads(content), home)


def of_user(home: Path, content: str) -> Path:
    return write(home / ".config/ghp-cli/config.json", content)


# ------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('{\n  "agents": {\n    "push": tru\n  }\n}', Fault(3, "not valid JSON: expecting value")),
        ("[]", Fault(1, "not a JSON object")),
        ('{\n\n  "agents": []}', Fault(3, "`agents` is not an object")),
        ('{"agents": null}', Fault(1, "`agents` is not an object")),
        ("[" * 200_000, Fault(1, "not valid JSON: nested too deep, or a number too long")),
        (
            '{"agents": {"timeout": ' + "9" * 5_000 + "}}",
            Fault(1, "not valid JSON: nested too deep, or a number too long"),
        ),
        (
            '{"agents": {\n"timeout": 0}}',
            Fault(2, "`agents.timeout`: input should be greater than 0"),
        ),
        (
            '{"agents": {\n"timeout": NaN}}',
            Fault(2, "`agents.timeout`: input should be less than or equal to 3600"),
        ),
    ],
    ids=["syntax", "list", "not-an-object", "null", "deep", "long", "zero", "nan"],
)
def test_what_is_wrong_is_said_with_its_line(content: str, fault: Fault) -> None:
    assert config.faults(content) == [fault]


def test_all_faults_of_a_file_are_found_in_the_order_of_their_lines() -> None:
    content = text("""
        {
          "agents": {
            "capabilities": {
              "worker-1": [
                "code",
                7
              ]
            },
            "throttle": "soon",
            "push": "perhaps",
            "checks": 7
          }
        }
    """)
    assert config.faults(content) == [
        Fault(6, "`agents.capabilities.worker-1.1`: input should be a text"),
        Fault(
            9,
            "`agents.throttle`: input should be a valid number, unable to parse string as a number",
        ),
        Fault(10, "`agents.push`: input should be a valid boolean, unable to interpret input"),
        Fault(11, "`agents.checks`: input should be a list"),
    ]


def test_one_text_is_a_list_of_one() -> None:
    content = '{"agents": {"checks": "make test", "shared": "README.md"}}'
    assert config.read([("a.json", content)]) == {
        "checks": ("make test",),
        "shared": ("README.md",),
    }


def test_a_line_is_that_of_our_key_and_not_of_another_with_its_name() -> None:
    content = text("""
        {
          "note": "\\"agents\\": {\\"push\\": 1",
          "parallelWork": {"agents": {"push": 1}},
          "columns": [{"push": 2}, "}"],
          "agents": {
            "capabilities": {"push": ["code"]},
            "push": []
          }
        }
    """)
    assert config.faults(content) == [Fault(7, "`agents.push`: input should be a valid boolean")]


def test_an_error_names_the_file_the_line_and_what_next(repo: Path, home: Path) -> None:
    path = of_repo(repo, '{\n  "agents": {"foldEvery": -1}\n}')
    assert workspace(repo, home).settings.unreadable == (
        f"{path}, line 2: `agents.foldEvery`: input should be greater than 0.",
    )
    with pytest.raises(ConfigError) as raised:
        config.read([(str(path), path.read_text())])
    assert raised.value.hint == (
        "Fix the file (it was not changed); `ghp agent-doctor` checks it again."
    )
    assert raised.value.exit_code is ExitCode.ERROR
    assert path.read_text() == '{\n  "agents": {"foldEvery": -1}\n}'


def test_a_file_that_is_not_utf8_is_an_error(repo: Path, home: Path) -> None:
    path = of_repo(repo, "")
    path.write_bytes(b'{"agents": {"trunk": "\xff"}}')
    assert workspace(repo, home).settings.unreadable == (
        f"Cannot read {path}: not UTF-8 text (byte 22).",
    )


def test_a_file_that_cannot_be_looked_at_is_an_error_and_not_a_default(
    repo: Path, home: Path
) -> None:
    path = repo / ".ghp/config.json"
    path.parent.mkdir()
    path.symlink_to("config.json")  # a loop: whoever looks gets an error, root too
    settings = workspace(repo, home).settings
    assert settings.unreadable == (f"Cannot read {path}: Too many levels of symbolic links.",)
    assert not settings.push  # it may forbid that anything leaves this clone


def test_an_empty_file_and_one_without_our_key_mean_the_defaults(repo: Path, home: Path) -> None:
    of_repo(repo, " \n")
    of_user(home, '{"startWorkingStatus": "In Progress"}')
    assert workspace(repo, home).settings == Settings()


# ------------------------------------------------------------------------------ unknown keys


def test_unknown_keys_do_not_stand_in_the_way(repo: Path, home: Path) -> None:
    of_repo(repo, '{"agents": {"ofTheFuture": {"a": 1}, "throttle": 9}}')
    assert workspace(repo, home).settings == Settings(throttle=9.0)


def test_every_known_key_is_a_setting() -> None:
    ours = config.AgentsConfig.model_validate({}).model_dump()
    theirs = config.UpstreamConfig.model_validate({}).model_dump()
    assert theirs.pop("main_branch") is None  # becomes the trunk, if nothing else does
    worked_out = {"cards": {}, "unagreed": {}, "trunk_place": "", "unreadable": ()}
    assert ours | theirs | worked_out == Settings()._asdict()
    assert [*ours, *theirs, *worked_out] == list(Settings._fields)


def test_upstreams_own_keys_about_worktrees_and_branches_are_read(repo: Path, home: Path) -> None:
    of_trunk(
        repo,
        home,
        """
        {"worktreePath": "../.worktrees", "worktreeCopyFiles": [".env"],
         "branchPattern": "a/{number}",
         "worktreeSymlinkFiles": ["node_modules"], "worktreeSetupCommand": "make", "columns": "x"}
        """,
    )
    of_user(home, '{"worktreeAutoSetup": false, "worktreePath": 7}')
    assert workspace(repo, home).settings == Settings(
        worktree_path="../.worktrees",
        worktree_copy_files=(".env",),
        worktree_symlink_files=("node_modules",),
        worktree_setup_command="make",
        worktree_auto_setup=False,
        branch_pattern="a/{number}",
    )


def test_where_issues_are_is_merged_key_by_key(repo: Path, home: Path) -> None:
    of_trunk(
        repo, home, '{"agents": {"github": {"repository": "acme/widgets"}, "accounts": {"a": "x"}}}'
    )
    of_user(home, '{"agents": {"github": {"host": "ghe.example.com"}, "accounts": {"b": "y"}}}')
    assert workspace(repo, home).settings == Settings(
        github={"proposed": "acme/widgets", "host": "ghe.example.com"},
        accounts={"a": "x", "b": "y"},
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ('"repository": "widgets"', "repository is 'widgets', which is not owner/name"),
        ('"host": "https://a.b"', "host is 'https://a.b', which is not the name of a server"),
        ('"api": "ftp://a.b"', "api is 'ftp://a.b', which is not the address of a server's api"),
        ('"api": "https://u:p@a.b"', "api is 'https://***@a.b', which is not the address of"),
    ],
)
def test_a_server_that_is_badly_written_is_named(fields: str, reason: str) -> None:
    [fault] = config.faults('{"agents": {\n"github": {' + fields + "}}}")
    assert fault.line == 2
    assert reason in fault.reason


# ------------------------------------------------------------------------------ who wins


def test_the_user_wins_over_the_repository_key_by_key(repo: Path, home: Path) -> None:
    of_repo(repo, '{"agents": {"foldEvery": 30, "throttle": 1, "remote": "team"}}')
    of_user(home, '{"agents": {"throttle": 2, "remote": null}}')
    assert workspace(repo, home).settings == Settings(fold_every=30.0, throttle=2.0, remote=None)


def test_capabilities_are_merged_agent_by_agent(repo: Path, home: Path) -> None:
    of_repo(repo, '{"agents": {"capabilities": {"worker-1": ["code"], "worker-2": ["docs"]}}}')
    of_user(home, '{"agents": {"capabilities": {"worker-2": ["tests", "code"]}}}')
    assert workspace(repo, home).settings.capabilities == {
        "worker-1": ("code",),
        "worker-2": ("tests", "code"),
    }


AUTHORITY = """{"agents": {
  "shared": ["docs/**", "*.lock"], "sharedOwners": ["@core"], "orchestrators": ["lead"],
  "implicitLeases": false
}}"""


def test_lists_are_the_same_when_they_come_from_the_cache(repo: Path, home: Path) -> None:
    of_trunk(repo, home, AUTHORITY)
    first, again = (workspace(repo, home).settings for _ in range(2))
    assert (first.shared, first.shared_owners, first.orchestrators, first.implicit_leases) == (
        ("/docs/", "*.lock"), ("@core",), ("lead",), False,
    )  # fmt: skip
    assert again == first


def test_the_users_list_takes_the_place_of_the_repositorys(repo: Path, home: Path) -> None:
    of_trunk(repo, home, AUTHORITY)
    of_user(home, '{"agents": {"shared": []}}')
    settings = workspace(repo, home).settings
    assert (settings.shared, settings.orchestrators) == ((), ("lead",))


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("../up", "'../up' is outside this repository"),
        ("", "a pattern is empty"),
        ("!gen/", "all patterns are exceptions (`!`), so nothing is selected"),
    ],
)
def test_what_is_shared_are_patterns(pattern: str, why: str) -> None:
    (fault,) = config.faults(f'{{"agents": {{\n  "shared": ["{pattern}"]\n}}}}')
    assert fault == Fault(2, f"`agents.shared`: value error, {why}")


@pytest.mark.parametrize(
    ("repository", "user", "trunk"),
    [
        ('{"mainBranch": "dev"}', "{}", "dev"),
        ('{"mainBranch": "dev"}', '{"mainBranch": "next"}', "next"),
        (
            '{"mainBranch": "dev", "agents": {"trunk": "stable"}}',
            '{"mainBranch": "next"}',
            "next",
        ),
        ('{"agents": {"trunk": "stable"}}', '{"agents": {"trunk": "mine"}}', "mine"),
        ('{"mainBranch": 7}', "{}", None),
        ('{"mainBranch": ""}', "{}", None),
    ],
)
def test_the_trunk_is_ours_to_say_then_upstreams(
    repo: Path, home: Path, repository: str, user: str, trunk: str | None
) -> None:
    of_trunk(repo, home, repository)
    of_user(home, user)
    assert workspace(repo, home).settings.trunk == trunk


def test_a_linked_worktree_reads_the_main_worktrees_file(
    repo: Path, home: Path, tmp_path: Path
) -> None:
    git(repo, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    of_repo(repo, '{"agents": {"throttle": 7}}')
    of_repo(tmp_path / "linked", '{"agents": {"throttle": 8}}')
    assert workspace(tmp_path / "linked", home).settings.throttle == 7.0


# ------------------------------------------------------------------------------ the cache


def test_beats_find_the_settings_that_the_last_command_checked(repo: Path, home: Path) -> None:
    of_repo(repo, '{"agents": {"throttle": 7, "capabilities": {"worker-1": ["code"]}}}')
    ws = workspace(repo, home)
    settings = ws.settings
    assert pulse.read_settings(ws.place.common_dir, ws.environ) == {
        "throttle": 7.0,
        "capabilities": {"worker-1": ["code"]},
    }
    assert workspace(repo, home).settings == settings


def test_a_changed_file_is_read_again(repo: Path, home: Path) -> None:
    of_repo(repo, '{"agents": {"throttle": 7}}')
    assert workspace(repo, home).settings.throttle == 7.0
    of_repo(repo, '{"agents": {"throttle": 8}}')
    assert workspace(repo, home).settings.throttle == 8.0
    of_user(home, '{"agents": {"throttle": 9}}')
    ws = workspace(repo, home)
    assert ws.settings.throttle == 9.0
    assert pulse.read_settings(ws.place.common_dir, ws.environ) == {"throttle": 9.0}


def test_without_files_the_cache_goes_and_the_defaults_hold(repo: Path, home: Path) -> None:
    path = of_repo(repo, '{"agents": {"throttle": 7}}')
    _ = workspace(repo, home).settings
    path.unlink()
    ws = workspace(repo, home)
    assert ws.settings == Settings()
    assert pulse.read_settings(ws.place.common_dir, ws.environ) == {}


def test_what_another_version_cached_is_not_believed(repo: Path, home: Path) -> None:
    of_repo(repo, '{"agents": {"throttle": 7}}')
    ws = workspace(repo, home)
    _ = ws.settings
    cache = Path(ws.home_folder, "settings.json")
    noted = json.loads(cache.read_text())
    noted["stamp"][0].remove("throttle")  # as a version would write that did not know it
    cache.write_text(json.dumps(noted | {"values": {}}))
    assert workspace(repo, home).settings.throttle == 7.0


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"stamp": 3}', "values"])
def test_a_broken_cache_is_made_anew(repo: Path, home: Path, broken: str) -> None:
    of_repo(repo, '{"agents": {"throttle": 7}}')
    ws = workspace(repo, home)
    _ = ws.settings
    cache = Path(ws.home_folder, "settings.json")
    good = cache.read_bytes()
    if broken == "values":
        broken = json.dumps(json.loads(good) | {"values": [1]})
    cache.write_text(broken)
    assert workspace(repo, home).settings.throttle == 7.0
    assert cache.read_bytes() == good


def test_a_place_that_cannot_be_written_only_costs_the_cache(repo: Path, home: Path) -> None:
    of_repo(repo, '{"agents": {"throttle": 7}}')
    (repo / ".git/ghp").write_text("in the way")
    assert workspace(repo, home).settings.throttle == 7.0
    assert (repo / ".git/ghp").read_text() == "in the way"


def test_a_broken_file_does_not_touch_what_was_cached_before(repo: Path, home: Path) -> None:
    of_repo(repo, '{"agents": {"throttle": 7}}')
    ws = workspace(repo, home)
    _ = ws.settings
    of_repo(repo, "{")
    after = workspace(repo, home).settings
    assert (after.throttle, len(after.unreadable)) == (7.0, 1)
    assert pulse.read_settings(ws.place.common_dir, ws.environ)["throttle"] == 7.0


# ------------------------------------------------------------------------------ notes' engines


def test_a_person_names_engines_and_a_repository_only_its_project(repo: Path, home: Path) -> None:
    mine = {"embedder": {"provider": "ollama", "config": {"model": "m"}}, "infer": True}
    theirs = {"llm": {"provider": "vllm"}, "vectorStore": {"provider": "qdrant"}, "project": "shop"}
    of_repo(repo, json.dumps({"agents": {"memory": theirs}}))
    assert workspace(repo, home).settings.memory == {
        "project": "shop", "ignored": ["llm", "vectorStore"],
    }  # fmt: skip
    path = home / ".config/ghp-cli/config.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"agents": {"memory": mine}}))
    assert workspace(repo, home).settings.memory == {
        "project": "shop", "ignored": ["llm", "vectorStore"], **mine,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("memory", "reason"),
    [
        ({"embedder": "ollama"}, "`agents.memory.embedder`: "),
        ({"embedder": {"config": {}}}, "`agents.memory.embedder.provider`: field required"),
        ({"embeder": {}}, "`agents.memory.embeder`: extra inputs are not permitted"),
        ({"project": "no spaces"}, "`agents.memory.project`: "),
    ],
)
def test_a_set_up_that_cannot_be_meant_is_refused_with_its_place(
    memory: dict[str, object], reason: str
) -> None:
    (fault,) = config.faults(json.dumps({"agents": {"memory": memory}}))
    assert fault.reason.startswith(reason)
