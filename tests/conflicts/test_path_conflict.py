"""What git says of a trial merge, as conflicts of paths, and in words."""

from ghp_agents.conflicts.path_conflict import PathConflict, conflicts_of, describe, shown
from ghp_agents.conflicts.places import ClashPlace, LineRange
from ghp_agents.git.merge import Stage
from ghp_agents.git.trial_merge import MergeMessage, TrialMerge

OID = "5d1c4e0dd8d1e79d59dd5a7cbb2a0718ac6a8532"


def stage(number: int, path: str = "a", mode: str = "100644") -> Stage:
    return Stage(mode, OID, number, path)


def said(kind: str, *paths: str) -> MergeMessage:
    return MergeMessage(paths or ("a",), kind, "whatever git says")


def test_what_merged_itself_is_no_conflict() -> None:
    merged = TrialMerge(OID, True, (), (said("Auto-merging"),))
    assert conflicts_of(merged) == []


def test_each_path_has_its_clearest_kind() -> None:
    stages = (stage(1), stage(2), stage(3))
    merged = TrialMerge(
        OID, False, stages, (said("CONFLICT (contents)"), said("CONFLICT (binary)"))
    )
    assert conflicts_of(merged) == [PathConflict("a", "binary", (), stages)]


def test_a_conflict_of_contents_is_told_by_its_versions() -> None:
    def kind(*stages: Stage) -> str:
        (one,) = conflicts_of(TrialMerge(OID, False, stages, (said("CONFLICT (contents)"),)))
        return one.kind

    assert kind(stage(1), stage(2), stage(3)) == "lines"
    assert kind(stage(2), stage(3)) == "added"
    assert kind(stage(2, mode="120000"), stage(3, mode="120000")) == "link"
    assert kind(stage(1), stage(2, mode="160000"), stage(3, mode="160000")) == "submodule"


def test_a_file_that_git_moved_aside_has_its_own_name() -> None:
    merged = TrialMerge(
        OID, False, (stage(2, f"n~{OID}"),),
        (said("CONFLICT (file/directory)", f"n~{OID}", "n"),),
    )  # fmt: skip
    (one,) = conflicts_of(merged)
    assert (one.path, one.kind, one.paths) == ("n", "folder", ())


def test_a_conflict_that_a_later_git_words_otherwise_is_still_one() -> None:
    merged = TrialMerge(OID, False, (stage(2),), (said("CONFLICT (brand new)", "b"),))
    assert [(one.path, one.kind) for one in conflicts_of(merged)] == [
        ("a", "other"),
        ("b", "other"),
    ]


def test_who_did_what_is_said_in_words() -> None:
    def words(conflict: PathConflict) -> str:
        return describe(conflict, "worker-1", "worker-2")

    def places(*ranges: tuple[int, int]) -> tuple[ClashPlace, ...]:
        return tuple(ClashPlace(LineRange(*one), LineRange(*one)) for one in ranges)

    assert words(PathConflict("a", "lines", places=places((3, 5)))) == (
        "lines 3-5 of worker-1, lines 3-5 of worker-2"
    )
    assert words(PathConflict("a", "lines", places=places((3, 3), (7, 6), (9, 9), (11, 11)))) == (
        "lines 3, 7 (removed), 9 of worker-1, lines 3, 7 (removed), 9 of worker-2 and 1 more place"
    )
    assert words(PathConflict("a", "lines")) == "both changed the same lines"
    assert words(PathConflict("a", "deleted", stages=(stage(1), stage(3)))) == (
        "worker-1 deleted it, worker-2 changed it"
    )
    assert words(PathConflict("a", "deleted", stages=(stage(1), stage(2)))) == (
        "worker-2 deleted it, worker-1 changed it"
    )
    assert words(PathConflict("a", "renamed", ("b", "c d"))) == (
        "moved by one side, and moved, deleted or added to by the other; also b, «c d»"
    )
    assert words(PathConflict("a", "lines", driver="mine")) == (
        "both changed the same lines (merged as text: the driver «mine» does not run here)"
    )


def test_a_conflict_can_be_told_from_the_other_side() -> None:
    place = ClashPlace(LineRange(1, 2), LineRange(3, 4), "a", "b")
    one = PathConflict("a", "lines", stages=(stage(1), stage(2)), places=(place,))
    turned = ClashPlace(LineRange(3, 4), LineRange(1, 2), "b", "a")
    assert one.turned == PathConflict("a", "lines", (), (stage(1), stage(3)), (turned,))
    assert one.turned.turned == one


def test_lines_are_short() -> None:
    assert [shown(LineRange(*one)) for one in ((3, 3), (3, 4), (3, 2))] == [
        "3", "3-4", "3 (removed)",
    ]  # fmt: skip
