"""Trial merges, and the output of git from which they are read."""

from pathlib import Path

import pytest

from ghp_agents.git import trial_merge
from ghp_agents.git.merge import Stage
from ghp_agents.git.trial_merge import MergeMessage, TrialMerge, TrialPlace, parse
from tests.support.git import commit, git
from tests.support.road import everything

EACH, MANY = (2, 38, 0), (2, 39, 5)
TREE = "b" * 40


@pytest.fixture
def place(repo: Path, tmp_path: Path) -> TrialPlace:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return trial_merge.open_place(repo / ".git", scratch, trial_merge.programs(repo))


@pytest.mark.parametrize("version", [EACH, MANY])
def test_each_pair_is_merged_and_a_failing_one_stops_no_other(
    repo: Path, place: TrialPlace, version: tuple[int, ...]
) -> None:
    one = commit(repo, {"a": "1\n"})
    git(repo, "switch", "--quiet", "-c", "other", "HEAD~1")
    two = commit(repo, {"a": "2\n", "ä b": "x\n"})
    git(repo, "switch", "--quiet", "--orphan", "alone")
    three = commit(repo, {"c": "3\n"})
    git(repo, "switch", "--quiet", "main")
    before = everything(repo)
    pairs = [(one, two), (one, three), (one, "f" * 40), (one, f"{one}~1"), (two, one)]
    merged = trial_merge.merge_all(place, pairs, version)
    assert [(merge.is_clean, bool(merge.tree)) for merge in merged] == [
        (False, True), (False, False), (False, False), (True, True), (False, True),
    ]  # fmt: skip
    assert merged[1].failure == "refusing to merge unrelated histories"
    assert "not something we can merge" in merged[2].failure
    assert [(stage.number, stage.path) for stage in merged[0].stages] == [(2, "a"), (3, "a")]
    assert merged[3].tree == git(repo, "rev-parse", "main^{tree}")
    assert everything(repo) == before


@pytest.mark.slow
def test_many_merges_are_in_the_order_of_the_pairs(repo: Path, place: TrialPlace) -> None:
    heads = []
    for number in range(30):
        git(repo, "switch", "--quiet", "-c", f"b{number}", "main")
        heads.append(commit(repo, {"a": f"{number}\n"}))
    merged = trial_merge.merge_all(place, [(head, "main") for head in heads])
    trees = [git(repo, "rev-parse", f"{head}^{{tree}}") for head in heads]
    assert [merge.tree for merge in merged] == trees


def test_attributes_are_those_of_one_commit_and_lead_nowhere_else(
    repo: Path, place: TrialPlace
) -> None:
    tip = commit(repo, {".gitattributes": "a merge=union\n", "d/.gitattributes": "b merge=union\n"})
    (repo / ".gitattributes").unlink()
    trial_merge.use_attributes(place, tip)
    paths = sorted(str(path.relative_to(place.folder)) for path in place.folder.rglob("*"))
    assert paths == [".gitattributes", "d", "d/.gitattributes"]


@pytest.mark.parametrize("path", ["../x", "a/../x", ".git/x", "a/.GIT/x", "/x", "a//x", "./x"])
def test_a_hostile_path_of_attributes_is_not_written(path: str) -> None:
    assert not trial_merge._is_plain(f"{path}/.gitattributes")
    assert trial_merge._is_plain("a/.github/.gitattributes")


def test_programs_of_the_configuration_are_named_and_replaced(repo: Path) -> None:
    git(repo, "config", "merge.Mine.driver", "false")
    git(repo, "config", "merge.a=b.driver", "false")
    git(repo, "config", "merge.renames", "true")
    git(repo, "config", "filter.lfs.clean", "false")
    git(repo, "config", "filter.lfs.required", "true")
    programs = trial_merge.programs(repo)
    assert programs.drivers == {"Mine", "a=b"}
    assert programs.filters == {"lfs"}
    assert programs.flags == (
        "--config-env=filter.lfs.clean=TRIAL_NOTHING",
        "--config-env=filter.lfs.required=TRIAL_FALSE",
        "--config-env=merge.Mine.driver=TRIAL_TEXT_MERGE",
        "--config-env=merge.a=b.driver=TRIAL_TEXT_MERGE",
    )


def output(*fields: str) -> bytes:
    return b"".join(field.encode() + b"\0" for field in fields)


def test_the_output_is_read_field_by_field() -> None:
    stage = f"100644 {TREE} 2\ta\tb"
    message = ("2", "a\tb", "c", "CONFLICT (contents)", "words\n")
    conflict = ("0", TREE, stage, "", *message, "")
    expected = TrialMerge(
        TREE,
        False,
        (Stage("100644", TREE, 2, "a\tb"),),
        (MergeMessage(("a\tb", "c"), "CONFLICT (contents)", "words\n"),),
    )
    clean = TrialMerge(TREE)
    assert [*parse(output("1", TREE, "", *conflict, "1", TREE, ""))] == [clean, expected, clean]


def test_output_that_was_cut_short_has_only_its_complete_results() -> None:
    whole = output("0", TREE, f"100644 {TREE} 2\ta", "", "1", "a", "CONFLICT (contents)", "x", "")
    for length in range(len(whole)):
        assert [*parse(whole[:length])] == []
    assert len([*parse(whole)]) == 1


def test_advice_about_submodules_is_no_message() -> None:
    conflict = ("0", TREE, "", "1", "sub", "CONFLICT (submodule)", "x", "Advice\n")
    merges = [*parse(output(*conflict, "1", TREE, ""))]
    assert [len(merge.messages) for merge in merges] == [1, 0]
