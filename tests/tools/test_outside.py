"""What cannot be installed for the tests is tried once in a run, and told in one line."""

from pathlib import Path

import pytest

from tests.support import guard, outside
from tools.clients import BrokenError, UnreachableError

NPM = "npm warn old\nnpm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error errno -1\n"
PIP = "WARNING: Retrying\nERROR: No matching distribution found for node\n"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (UnreachableError(NPM), "npm error code SELF_SIGNED_CERT_IN_CHAIN"),
        (BrokenError(PIP), "ERROR: No matching distribution found for node"),
        (BrokenError("npm is not on PATH."), "npm is not on PATH."),
    ],
)
def test_tests_are_skipped_for_one_reason_that_is_found_out_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    monkeypatch.setenv(guard.RUN, str(tmp_path))
    homes = []

    def install(home: str) -> None:
        homes.append(home)
        raise error

    for _ in range(2):
        with pytest.raises(pytest.skip.Exception) as skipped:
            outside.need("a stand-in", install)
        assert skipped.value.msg == f"needs a stand-in (by npm and pip): {reason}"
    assert len(homes) == 1


def test_what_is_installed_is_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(guard.RUN, str(tmp_path))
    assert outside.need("a stand-in", lambda home: Path(home).is_absolute()) is True


def test_many_skips_for_one_need_have_one_place() -> None:
    reports = [
        pytest.TestReport("a", (file, 7, "a"), {}, "skipped", (file, 7, reason), "setup")
        for file in ("test_a.py", "test_b.py")
        for reason in ("Skipped: needs npm", "Skipped: only for root")
    ]
    for report in reports:
        outside.report_once(report)
    assert {report.longrepr for report in reports} == {
        (outside.__file__, 1, "Skipped: needs npm"),
        ("test_a.py", 7, "Skipped: only for root"),
        ("test_b.py", 7, "Skipped: only for root"),
    }
