"""What our commands' commands may know, and what of their output may be shown."""

import base64
from collections.abc import Callable

import pytest

from ghp_agents.core.child_env import for_commands, shown
from ghp_agents.hotpath.ignored_files import LOCAL_VARIABLES

LEFT_OUT = [
    *("GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_PAT"),
    *("NPM_TOKEN", "npm_config__auth", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "API_KEY"),
    *(
        "STRIPE_KEY",
        "OPENAI_APIKEY",
        "DB_PASSWORD",
        "DB_PASS",
        "MYSQL_PWD",
        "SSH_KEY",
        "signing-key",
    ),
    *("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0", "GIT_CONFIG_PARAMETERS"),
    *(
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "SSH_AUTH_SOCK",
        "VSCODE_GIT_IPC_HANDLE",
        "VSCODE_GIT_ASKPASS_NODE",
    ),
    *("ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_CACHE_URL"),
    *("GOOGLE_APPLICATION_CREDENTIALS", "GPG_PASSPHRASE", "GIT_DIR", "GIT_INDEX_FILE"),
]
GIVEN_ON = [
    *("PATH", "HOME", "LANG", "LC_ALL", "CI", "TERM", "PWD", "OLDPWD", "TMPDIR", "SHELL", "USER"),
    *("VIRTUAL_ENV", "PYTHONPATH", "NODE_ENV", "JAVA_HOME", "GOPATH", "CARGO_HOME", "MAKEFLAGS"),
    *("GITHUB_ACTIONS", "GITHUB_SHA", "GITHUB_WORKSPACE", "RUNNER_TEMP", "GIT_AUTHOR_NAME"),
    *("TOKENIZERS_PARALLELISM", "KEYBOARD", "MONKEY", "XAUTHORITY", "PGPASSFILE", "COMPASS"),
]


def test_what_is_secret_by_its_name_or_leads_to_credentials_is_left_out() -> None:
    given = dict.fromkeys([*LEFT_OUT, *GIVEN_ON], "x")
    assert [*for_commands(given)] == GIVEN_ON


def test_a_variable_that_the_person_names_is_given_on() -> None:
    given = {"SSH_AUTH_SOCK": "/run/agent", "NPM_TOKEN": "x"}
    assert for_commands(given, ["SSH_AUTH_SOCK"]) == {"SSH_AUTH_SOCK": "/run/agent"}


@pytest.mark.parametrize("before", ["", "x", "xy", "x-access-token:", "user:"])
@pytest.mark.parametrize("after", ["", "z", "zz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes])
def test_a_secret_in_base64_is_not_shown_wherever_it_begins(
    encode: Callable[[bytes], bytes], before: str, after: str
) -> None:
    secret = "s3cr3t?>~" + "long enough for two lines " * 3
    encoded = encode(f"{before}{secret}{after}".encode()).decode()
    left = shown(f"it is {encoded} there", {"DEPLOY_TOKEN": secret})
    room = len(base64.b64encode(f"{before}{after}".encode())) + 6  # an edge is shared
    assert len(left) <= len("it is ***\n there") + room
    assert "***" in left


def test_the_credential_in_a_header_of_gits_is_not_shown_in_any_form() -> None:
    token = "tok-" + "a1b2c3d4e5"
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    environ = {"GIT_CONFIG_KEY_0": "http.https://h/.extraheader",
               "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {basic}"}  # fmt: skip
    assert shown(f"{basic} {token} http.https://h/.extraheader", environ) == (
        "*** *** http.https://h/.extraheader"
    )


def test_the_password_in_a_variables_address_is_not_shown() -> None:
    environ = {"DATABASE_URL": "postgres://ann:correct-horse@db/x"}
    assert shown("it is correct-horse", environ) == "it is ***"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("\x1b[31mred\x1b[0m\r\n\x1b]0;title\x07done\n", "red\ndone"),
        ("50 %\r100 %\n", "50 %\n100 %"),
        ("bell\x07", "bell�"),
        ("key: correct horse.", "key: ***."),
        ("short: abc", "short: abc"),
        ("AKIAABCDEFGHIJKLMNOP", "[an AWS key removed]"),
        ("https://ann:pass@host/x", "https://***@host/x"),
    ],
)
def test_secrets_and_control_sequences_are_not_shown(output: str, expected: str) -> None:
    environ = {"DEPLOY_API_KEY": "correct horse", "PIN_SECRET": "abc", "HOME": "/home"}
    assert shown(output, environ) == expected


def test_no_variable_that_points_git_at_a_repository_reaches_a_configured_command() -> None:
    environ = dict.fromkeys(LOCAL_VARIABLES, "/nowhere") | {"GIT_AUTHOR_NAME": "Ada"}
    assert for_commands(environ) == {"GIT_AUTHOR_NAME": "Ada"}
