"""What is stored and sent holds no secret of a known shape; ordinary text and code stay whole."""

import contextlib
import time
from pathlib import Path

import pytest

from ghp_agents.core import remote_url as address
from ghp_agents.core import secret_scan as secret
from ghp_agents.core.errors import UsageError
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.handoffs import Station, begin_work, make_team

CHECKOUT = Path(__file__).parents[2]
SIZE = 65_536

# Put together here, so that no scanner takes this file for a leak.
WORD = "hunter2" + "-prod"
BASE64 = "eC1hY2Nlc3MtdG9rZW46" + "Z2hzXzEyMw=="
SECRETS = {
    f"DB_PASSWORD={WORD}": WORD,
    f"export DB_PASSWORD='{WORD}'": WORD,
    f'    API_KEY: "{WORD}"': WORD,
    f"API_KEY: {WORD}": WORD,
    f"AWS_SECRET_ACCESS_KEY = {WORD}  # ours": WORD,
    f'{{"STRIPE_SECRET": "{WORD}", "a": 1}}': WORD,
    f"PGPASSWORD={WORD} psql\n> NPM_TOKEN={WORD}": WORD,
    "SECRET_KEY_BASE=correcthorse": "correcthorse",
    f"extraheader = AUTHORIZATION: basic {BASE64}": BASE64,
    f"curl -H 'Authorization: Bearer {BASE64}'": BASE64,
    f'{{"authorization": "token {BASE64}"}}': BASE64,
    f"see https://deploy:{WORD}@host.example/x": WORD,
    f"https://{WORD}@host.example/x": WORD,
    f"machine api.example login deploy password {WORD}": WORD,
    f"> machine api.example\n>   login deploy\n>   password {WORD}\n": WORD,
    f"https://host.example/x?a=b&access_token={WORD}": WORD,
    "-----BEGIN RSA "
    + f"PRIVATE KEY-----\n> {BASE64}\n> {BASE64}\n> -----END RSA PRIVATE KEY-----": BASE64,
    "-----BEGIN OPENSSH " + f"PRIVATE KEY-----\n{BASE64}\n": BASE64,
}  # fmt: skip
ORDINARY = (
    "The token is read from the environment: set GH_TOKEN, or run `gh auth login`.",
    "API_KEY: str = Field(description='the key')",
    "TOKEN = os.environ['GITHUB_TOKEN']",
    "GH_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    "GH_TOKEN=$TOKEN make release",
    "PASSWORD=<your password>",
    "SECRET=changeme-please-1",
    "MAX_TOKENS=100000",
    "TOKEN=GITHUB_TOKEN",
    "TOKEN=self.settings.token",
    "PASSWORD_FILE=/run/secrets/db1",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "The machine asks for a login and a password of 12 characters.",
    "https://github.com/owner/name/issues?q=is%3Aopen+label%3A1234567890",
    "git@github.com:owner/name.git and ssh://git@host.example/x",
    "-----BEGIN PUBLIC KEY-----",
    "SECRET_NAME = re.compile(r'TOKEN|SECRET')",
)


def page(text: str) -> str:
    """A page as it is stored."""
    from ghp_agents.core.child_env import publishable

    return publishable(text, {})


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_taken_out_of_a_page_and_the_rest_stays(text: str) -> None:
    made = page(f"before\n{text}\nafter\n")
    assert SECRETS[text] not in made
    assert made.startswith("before\n")
    assert made.endswith("\nafter\n")
    assert page(made) == made


def test_only_the_value_is_taken_out() -> None:
    assert page(f"export DB_PASSWORD='{WORD}'\n") == (
        "export DB_PASSWORD='[a password or key removed]'\n"
    )


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_and_code_stay_as_they_are(text: str) -> None:
    assert page(text) == text
    assert secret.find(text) is None


@pytest.mark.slow
def test_nothing_in_our_own_sources_and_pages_is_taken_for_a_secret() -> None:
    listed = git(CHECKOUT, "ls-files", "*.py", "*.md", "*.toml", "*.yml", "*.j2").splitlines()
    texts = {
        name: (CHECKOUT / name).read_text()
        for name in listed
        if not name.startswith("tests/") and (CHECKOUT / name).is_file()
    }
    assert len(texts) > 300
    assert [name for name, text in texts.items() if secret.find(text)] == []


# ----------------------------------------------------------------------------- where it counts


@pytest.fixture
def here(repo: Path) -> Station:
    """worker-1 on a branch of its own."""
    begin_work(repo)
    return make_team().at(repo)


@pytest.mark.slow
def test_a_handoff_has_no_secret_of_a_commit_or_of_its_note(here: Station) -> None:
    for at, text in enumerate(SECRETS):
        commit(here.folder, {"a.txt": f"{at}\n"}, text)
    document = here.hand_over(checkpoint=True, note="Look:\n" + "\n".join(SECRETS)).document
    for value in {*SECRETS.values()} - {BASE64}:
        assert value not in document
    assert document.count(BASE64) == 0


def test_uncommitted_work_with_a_secret_is_not_stored(here: Station) -> None:
    texts = [text for text in SECRETS if f"//{SECRETS[text]}" not in text]
    for at, text in enumerate(texts):
        (here.folder / f"new-{at:02}.txt").write_text(f"one\n{text}\n")
    (here.folder / "other.txt").write_text("kept\n")
    handed = here.hand_over(checkpoint=True)
    files = here.team.store.snapshot().files(".ghp/")
    assert not [path for path, data in files.items() if WORD.encode() in data]
    assert not [path for path, data in files.items() if BASE64.encode() in data]
    work = handed.handoff.work
    assert work is not None
    assert [one.path for one in work.missing] == [f"new-{at:02}.txt" for at in range(len(texts))]
    assert work.files == 1


def test_a_changed_secret_is_not_stored_in_the_lines_around_a_change(here: Station) -> None:
    commit(here.folder, {"a.txt": "a\n"})
    (here.folder / "a.txt").write_text(f"DB_PASSWORD={WORD}\n")
    handed = here.hand_over(checkpoint=True)
    assert handed.handoff.work
    assert [one.reason for one in handed.handoff.work.missing] == [
        "seems to hold a password or key"
    ]


def test_comments_issues_questions_and_notes_with_a_secret_are_refused(repo: Path) -> None:
    text = f"DB_PASSWORD={WORD}"
    assert invoke("agent-whoami --set worker-1", repo).code == 0
    assert invoke("agent-issue new One", repo).code == 0
    for command in (
        ["agent-issue", "comment", "1", text],
        ["agent-issue", "new", "Two", "--body", text],
        ["agent-issue", "edit", "1", "--body", text],
        ["agent-escalate", text],
        ["agent-remember", text],
    ):
        done = invoke(command, repo)
        assert done.code == 2, (command, done)
        assert "seems to contain a password or key" in done.err
        assert WORD not in done.err


# ----------------------------------------------------------------------------------- its time


def hostile() -> list[str]:
    """Texts that begin one of the shapes as often as can be, and never end it."""
    bits = (
        "a", "A_", "PASSWORD", "TOKEN=", "TOKEN = a", "_TOKEN", "\nPASSWORD=a.b", "TOKEN='",
        "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "machine a login ", "machine a ",
        "default login ", "authorization: basic ", "http://", "http://a:", "a://", "://", "a.",
        "eyJa-", "-eyJ" + "a" * 21, "?sig=", "?sig=a1", "token is ", "token:", "token  ", "x-",
        "\n",
    )  # fmt: skip
    texts = [bit * (SIZE // len(bit)) for bit in bits]
    return [*texts, "token is" + " " * SIZE, "TOKEN=" + "a" * SIZE, "machine " + "a " * 30_000]


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["redacted", "find", "note", "masked"])
def test_looking_for_secrets_takes_time_in_proportion_to_the_text(reader: str) -> None:
    read = {
        "redacted": secret.redacted,
        "find": secret.find,
        "note": secret.refuse_in_note,
        "masked": address.masked,
    }[reader]
    for text in hostile():
        times = []
        for _ in range(3):
            began = time.process_time()
            with contextlib.suppress(UsageError):
                read(text)
            times.append(time.process_time() - began)
            if times[-1] < 0.05:
                break
        assert min(times) < 0.05 * SLOW, text[:30]


SLOW = 3  # a machine that is busy with other tests
