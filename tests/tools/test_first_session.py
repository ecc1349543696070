"""The tutorial shows what its commands print, and its commands work in their order."""

from pathlib import Path

import pytest

from tools import first_session
from tools.first_session import Names, without_spaces

REMEDY = "Run `python -m tools.first_session`, read the difference, and commit it."


@pytest.mark.slow
@pytest.mark.long
def test_the_outputs_on_the_page_are_those_of_today(tmp_path: Path) -> None:
    page = first_session.PAGE.read_text(encoding="utf-8")
    played = first_session.play(page, tmp_path.resolve())
    assert without_spaces(played) == without_spaces(page), REMEDY


def test_files_are_written_and_outputs_replaced(tmp_path: Path) -> None:
    page = """\
Words.

```text title="notes/a.txt"
one
```

```console
$ cat notes/a.txt
an output of the time before
$ cd notes
$ ls
```

```json
{}
```
"""
    played = first_session.play(page, tmp_path)
    assert played == page.replace("an output of the time before", "one").replace(
        "$ ls\n", "$ ls\na.txt\n"
    )


def test_a_terminal_that_waits_for_its_person_goes_on_in_a_later_block(tmp_path: Path) -> None:
    page = """\
```console title="One"
$ echo 'To answer: touch it'; until [ -e it ]; do :; done; echo Done.
To answer: touch it
```

```console
$ touch it
```

```console title="One"
Done.
```
"""
    assert first_session.play(page, tmp_path) == page


def test_a_command_that_fails_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no such thing"):
        first_session.play("```console\n$ echo no such thing; false\n```", tmp_path)


def test_ids_times_and_paths_are_the_same_in_every_run() -> None:
    texts = []
    for root, ids in (("/tmp/a", ("0123456789ab", "c0ffee1")), ("/b", ("9876543210fe", "1234567"))):
        names = Names(Path(root))
        question, commit = ids
        texts.append([
            names.hide(f"Asked E-{question} at 2026-01-02T03:04:05Z, 12 s ago; {root}/home"),
            names.hide(f"{commit} E-{question[:4]} since 03:04 UTC"),
        ])  # fmt: skip
        assert names.show("ghp agent-answer E-0000 yes") == f"ghp agent-answer E-{question[:4]} yes"
    assert texts[0] == texts[1]
    assert texts[0] == [
        "Asked E-5feceb66ffc8 at 2026-05-04T09:30:00Z, 5 s ago; /home",
        "6b86b27 E-5fec since 09:30 UTC",
    ]
