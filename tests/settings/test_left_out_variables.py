"""Which credentials a command does not get is said once for each clone and variable."""

from pathlib import Path

from ghp_agents.settings.left_out_variables import OPTION, SETTING, note

WORD = "q8Lm2" + "Zx9k7"
ENVIRON = {"DATABASE_URL": f"postgres://app:{WORD}@db/app", "PATH": "/bin", "SSH_AUTH_SOCK": "/s"}
HINT = "Your own setting `agents.checksKeepEnv` passes one on."


def test_a_variable_is_said_once_for_each_clone_and_way(tmp_path: Path) -> None:
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    expected = f"Credentials that checks do not get: DATABASE_URL. {HINT}"
    assert note(one, ENVIRON, (), "checks do", SETTING) == expected
    assert note(one, ENVIRON, (), "the set-up command does", SETTING) == ""
    assert note(two, ENVIRON, (), "checks do", SETTING) == expected
    more = ENVIRON | {"NPM_TOKEN": "x"}
    assert note(one, more, (), "checks do", SETTING) == (
        f"Credentials that checks do not get: NPM_TOKEN. {HINT}"
    )
    assert note(one, more, (), "the run does", OPTION) == (
        "Credentials that the run does not get: DATABASE_URL, NPM_TOKEN. "
        "--keep-env NAME passes one on."
    )
    assert WORD not in "".join(path.read_text() for path in tmp_path.rglob("*.json"))


def test_a_variable_that_the_person_named_is_not_said(tmp_path: Path) -> None:
    assert note(str(tmp_path), ENVIRON, {"DATABASE_URL"}, "checks do", SETTING) == ""
    assert [*tmp_path.iterdir()] == []


def test_of_many_variables_each_is_named_sooner_or_later(tmp_path: Path) -> None:
    many = {f"A{number:02}_TOKEN": "x" for number in range(20)}
    texts = [note(str(tmp_path), many, (), "checks do", SETTING) for _ in range(4)]
    assert "and 12 more" in texts[0]
    assert all(name in "".join(texts) for name in many)
    assert texts[3] == ""


def test_where_nothing_can_be_kept_it_is_said_again(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "file")
    Path(nowhere).write_text("")
    assert note(nowhere, ENVIRON, (), "checks do", SETTING)
    assert note(nowhere, ENVIRON, (), "checks do", SETTING)
