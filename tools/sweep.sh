#!/usr/bin/env bash
# The last step of action.yml: sweeps the repository that is checked out in the current folder.
# Nothing of an event gets in here; TOKEN, POLICY and DRY_RUN are the inputs of the action.
set -euo pipefail

: "${GITHUB_ACTION_PATH:?}" "${GITHUB_SERVER_URL:?}" "${RUNNER_TEMP:?}" "${TOKEN:?}"

# Git's credentials, for this step alone and on no disk. The empty value takes away what a checkout
# has left for the same host: two headers are refused.
header="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$TOKEN" | base64 | tr -d '\n')"
echo "::add-mask::${header##* }"
export GIT_CONFIG_COUNT=2
export GIT_CONFIG_KEY_0="http.$GITHUB_SERVER_URL/.extraheader" GIT_CONFIG_VALUE_0=""
export GIT_CONFIG_KEY_1="http.$GITHUB_SERVER_URL/.extraheader" GIT_CONFIG_VALUE_1="$header"

if [ "$GITHUB_SERVER_URL" = https://github.com ]; then
  export GITHUB_TOKEN="$TOKEN"
else
  export GH_HOST="${GITHUB_SERVER_URL#*://}" GH_ENTERPRISE_TOKEN="$TOKEN"
  case "$GH_HOST" in *.ghe.com) export GITHUB_TOKEN="$TOKEN" ;; esac
fi
unset TOKEN

cache="$RUNNER_TEMP/ghp-agents-cache"
words=(agent-sweep --ephemeral --cache "$cache")
[ -z "${POLICY:-}" ] || words+=(--policy "$POLICY")
[ "${DRY_RUN:-false}" != true ] || words+=(--dry-run)

# -P: what is in the repository must not pass for one of our libraries.
export PYTHONPATH="$GITHUB_ACTION_PATH" GHP_BACKGROUND=0
ghp=("$RUNNER_TEMP/ghp-agents/bin/python" -P -m ghp_agents)

# The home of this job is new. Its workflow came from the trunk, by people who may write there; so
# what the trunk's settings name counts. It is printed.
"${ghp[@]}" agent-trust --yes

digest() { { cat "$cache"/* 2>/dev/null || true; } | sha256sum; }
before=$(digest)
code=0
"${ghp[@]}" "${words[@]}" || code=$?
[ "$before" = "$(digest)" ] || echo "cache=changed" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
