"""Which tests are run again with the oldest versions of the libraries."""

import re

from tests.support.breaches import DOORS
from tests.support.house import CHECKOUT


def test_all_packages_that_import_a_library_are_tried_with_its_oldest_version() -> None:
    """All others use libraries through these alone: the contracts of the doors forbid the rest."""
    line = re.search(r"^LOWEST := (.+)$", (CHECKOUT / "Makefile").read_text(), re.MULTILINE)
    assert line is not None
    tried = {*line[1].split()}
    packages = {name.split("/")[1] for importers in DOORS.values() for name in importers}
    assert packages - tried == set()
    assert {name for name in tried if not (CHECKOUT / "tests" / name).is_dir()} == set()
