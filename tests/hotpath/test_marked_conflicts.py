"""Conflicts in a merged text, and lines that are mapped through a difference."""

from ghp_agents.hotpath.marked_conflicts import Region, hunks, mapped, marked

MERGED = b"a\n<<<<< x\nmine\n=====\ntheirs\nmore\n>>>>> y\nb\n<<<<< x\n=====\nnew\n>>>>> y\n"


def numbers(region: Region) -> tuple[int, int, int, int]:
    return region.start, region.end, region.their_start, region.their_end


def test_each_conflict_is_told_by_its_lines_on_both_sides() -> None:
    regions, mine, theirs = marked(MERGED, 5)
    assert [numbers(region) for region in regions] == [(1, 2, 1, 3), (3, 3, 4, 5)]
    assert b"".join(mine) == b"a\nmine\nb\n"
    assert b"".join(theirs) == b"a\ntheirs\nmore\nb\nnew\n"


def test_shorter_marks_and_lone_carriage_returns_are_text() -> None:
    lines = [b"<<<< x\n", b"====\n", b">>>> y\n", b"lone\rreturn\r\n"]
    assert marked(b"".join(lines), 5) == ([], lines, lines)


def test_lines_are_mapped_through_the_hunks_before_them() -> None:
    diff = b"@@ -2,0 +3,2 @@ x\n+a\n+b\n@@ -5 +6,0 @@\n-c\n@@ -9,2 +10 @@\n"
    spans = hunks(diff)
    assert spans == [(2, 0, 2, 2), (4, 1, 6, 0), (8, 2, 9, 1)]
    assert [mapped(spans, line) for line in (0, 1, 2, 4, 5, 8, 9, 10)] == [0, 1, 4, 6, 6, 9, 10, 10]
