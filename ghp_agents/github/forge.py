"""Pull requests on GitHub, which merges them itself."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import Actor
from ghp_agents.github import account, merge_queue
from ghp_agents.github import pull_mapping as github_pull
from ghp_agents.github.api import errors
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.pulls.pull import (
    Checks,
    MergeConflictError,
    MergeStep,
    NewPull,
    Pull,
    PullChange,
    PullMovedError,
    Review,
    Sent,
    brought_up,
    checked,
    checked_new,
    effective,
    newest,
    not_found,
    refuse_unready,
)
from ghp_agents.workspace import Workspace

PAGES = 20  # of runs: two thousand
_DRAFT = (
    "mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) "
    "{ pullRequest { isDraft } } }"
)
_READY = (
    "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) "
    "{ pullRequest { isDraft } } }"
)


class GitHubForge:
    """`ports.Forge` on GitHub. Before a retry it looks for the result of the first try."""

    def __init__(self, ws: Workspace, hub: GitHubRepository) -> None:
        self._ws = ws
        self._hub = hub

    @property
    def is_local(self) -> bool:
        """GitHub merges."""
        return False

    def get(self, number: int) -> Pull:
        """One pull request. Raises NotFoundError, and RefusedError for an open one from a fork."""
        raw = self._raw(number)
        pull = self._pull(raw)
        if pull.state == "open" and not _is_here(raw):
            raise _of_a_fork(pull)
        return pull

    def find(self, branch: str) -> Pull | None:
        """The open pull request of a branch, else its newest one."""
        return newest([self._pull(raw) for raw in self._pulls_of(branch, "all")], branch)

    def open(self, request: NewPull, by: Actor) -> Pull:
        """Open a pull request, or update the open one of the same branch."""
        request = checked_new(request)
        existing = self._open_one(request.branch)
        if existing is not None:
            return self._bring_up(existing, request, by)
        body = {
            "title": request.title,
            "head": request.branch,
            "base": request.base,
            "body": self._signed(request.body, request.branch, by, Sent(request.head, by)),
            "draft": request.draft,
        }
        try:
            created = self._hub.write(
                "POST", "pulls", body, find_existing=lambda: self._open_one(request.branch)
            )
        except errors.InvalidError as error:
            existing = self._open_one(request.branch)  # another process was faster
            if existing is None:
                raise _not_taken(request, error) from None
            created = existing
        return self._bring_up(created, request, by)

    def _signed(self, body: str, branch: str, by: Actor, sent: Sent | None) -> str:
        who = account.person(self._hub, self._ws.settings.accounts)
        return github_pull.signed(body, branch, by, sent, who)

    def change(self, number: int, change: PullChange, by: Actor) -> Pull:
        """Change fields; values that are already set stay. Raises NotFoundError."""
        raw = self._raw(number)
        pull = self._pull(raw)
        return self._changed(raw, effective(pull, checked(change)), by, pull.sent)

    def _changed(self, raw: Any, new: PullChange, by: Actor, sent: Sent | None) -> Pull:
        """Apply `new`, and record that `agent-finish` sent `sent`."""
        pull = self._pull(raw)
        number = pull.number
        texts: dict[str, Any] = {
            name: value
            for name, value in (("title", new.title), ("state", new.state), ("base", new.base))
            if value is not None
        }
        if new.body is not None or sent != pull.sent:
            body = pull.body if new.body is None else new.body
            texts["body"] = self._signed(body, pull.branch, _by(pull, by), sent)
        if texts:
            raw = self._hub.write("PATCH", f"pulls/{number}", texts)
        if new.draft is not None:
            self._set_draft(number, str(raw["node_id"]), draft=new.draft)
            raw = self._raw(number)
        return self._pull(raw)

    def checks(self, pull: Pull) -> Checks:
        """The results of check runs and statuses for the pull request's head. A token that may not
        read check runs, such as any fine-grained one, gets the runs of GitHub Actions instead."""
        at, missing = f"commits/{quote(pull.head, safe='')}", list[str]()
        statuses, runs = list[Any](), list[Any]()
        try:
            statuses = self._hub.get(f"{at}/status", per_page=100).body["statuses"]
        except errors.ForbiddenError:
            missing.append("Commit statuses")
        instead = False
        try:
            runs = self._runs(f"{at}/check-runs", "check_runs")
        except errors.ForbiddenError:
            instead = True
        if instead:
            try:
                listed = self._runs("actions/runs", "workflow_runs", head_sha=pull.head)
                runs = [*map(github_pull.as_check_run, listed)]
            except (errors.ForbiddenError, errors.MissingError):
                missing.append("Actions")
        checks = github_pull.checks(runs, statuses)
        return checks._replace(unread=" and ".join(missing), only_actions=instead)

    def _runs(self, path: str, key: str, **params: str) -> list[Any]:
        """All pages of a list of runs. Raises ForbiddenError, MissingError."""
        runs: list[Any] = []
        for page in range(1, PAGES + 1):
            answer = self._hub.get(path, per_page=100, page=page, **params).body
            runs += answer[key]
            if len(runs) >= int(answer["total_count"]) or not answer[key]:
                break
        return runs

    def reviews(self, pull: Pull) -> Sequence[Review]:
        """The approvals and the requests for changes on GitHub, by accounts with write access."""
        reviews = map(github_pull.review, self._hub.get_all(f"pulls/{pull.number}/reviews"))
        may = self._hub.may_command
        return [x for x in reviews if x and may(x.by.name.removeprefix("@"))]

    def merge(
        self, number: int, by: Actor, *, head: str, onto: str = "", message: str = ""
    ) -> Pull:
        """Let GitHub merge it, if its head still is `head`."""
        pull = self.get(number)
        if pull.state == "merged":
            return pull
        refuse_unready(pull)
        body = {"sha": head, "merge_method": self._ws.settings.merge_method}
        if message:
            body["commit_message"] = message
        try:
            self._hub.write(
                "PUT", f"pulls/{number}/merge", body, find_existing=lambda: self._merged(number)
            )
        except errors.HubError as error:
            if merge_queue.is_required(error):
                merge_queue.enqueue(self._ws, self._hub, pull, head, by)
            if error.status == 405:
                return self._refused(number, error)
            if error.status == 409:
                raise PullMovedError(self.get(number)) from None
            raise
        done = self.get(number)
        if done.state != "merged":
            raise UnknownError(
                f"GitHub does not show #{number} as merged yet.", hint="Try again in a moment."
            )
        return done

    def place_in_queue(self, number: int) -> int | None:
        """The place in GitHub's merge queue; None if it is not there."""
        return merge_queue.place_of(self._hub, number)

    def merge_all(self, steps: Sequence[MergeStep], by: Actor, *, onto: str) -> Sequence[Pull]:
        """Raise RefusedError: GitHub merges one pull request at a time."""
        raise RefusedError(
            "GitHub cannot merge several pull requests by one update.",
            hint="Merge one after another; `ghp agent-merge --queue` does that.",
        )

    def _pull(self, raw: Any) -> Pull:
        try:
            return github_pull.pull(raw, self._hub.may_command)
        except (KeyError, TypeError, ValueError) as error:
            raise errors.HubError(
                f"GitHub's answer is not a pull request: {error}.", hint="Run `ghp agent-doctor`."
            ) from None

    def _raw(self, number: int) -> Any:
        try:
            return self._hub.get(f"pulls/{number}").body
        except errors.MissingError:
            raise not_found(number) from None

    def _pulls_of(self, branch: str, state: str) -> list[Any]:
        """The pull requests of a branch in this repository, oldest first."""
        owner = self._hub.repository.split("/")[0]
        pulls = self._hub.get_all(
            "pulls", state=state, head=f"{owner}:{branch}", sort="created", direction="asc"
        )
        return [raw for raw in pulls if raw["head"]["ref"] == branch and _is_here(raw)]

    def _open_one(self, branch: str) -> Any | None:
        pulls = self._pulls_of(branch, "open")
        return pulls[-1] if pulls else None

    def _bring_up(self, raw: Any, request: NewPull, by: Actor) -> Pull:
        pull, sent = self._pull(raw), Sent(request.head, by)
        new = brought_up(pull, request)._replace(head=None)
        if new == PullChange() and pull.sent == sent:
            return pull
        return self._changed(raw, new, by, sent)

    def _set_draft(self, number: int, node: str, *, draft: bool) -> None:
        def find_existing() -> Any | None:
            return {} if bool(self._raw(number).get("draft")) == draft else None

        self._hub.graphql(_DRAFT if draft else _READY, {"id": node}, find_existing=find_existing)

    def _merged(self, number: int) -> Any | None:
        raw = self._raw(number)
        return raw if raw.get("merged_at") else None

    def _refused(self, number: int, error: errors.HubError) -> Pull:
        """Find out why GitHub calls it "not mergeable"."""
        raw = self._raw(number)
        pull = self._pull(raw)
        if pull.state == "merged":
            return pull
        refuse_unready(pull)
        if raw.get("mergeable") is False:
            raise MergeConflictError(pull, ()) from None
        raise RefusedError(
            f"GitHub did not merge #{number}: {error.message or error}.",
            hint=f"A rule of the repository may require a review or checks; see {pull.url}.",
        ) from None

    def list(self, *, closed: bool = False) -> list[Pull]:
        """Open pull requests, with `closed` also merged and closed ones, oldest first; only of
        branches in this repository."""
        state = "all" if closed else "open"
        pulls = self._hub.get_all("pulls", state=state, sort="created", direction="asc")
        once = {raw["number"]: raw for raw in pulls if _is_here(raw)}
        return [self._pull(raw) for raw in once.values()]


def _is_here(raw: Any) -> bool:
    """Whether its branch is in this repository. Anybody may open one from a fork, whose branch can
    have the name of one of ours, even of the default branch."""
    base, head = raw["base"].get("repo") or {}, raw["head"].get("repo", {})
    return head == {} or (head is not None and head.get("id") == base.get("id"))


def _of_a_fork(pull: Pull) -> RefusedError:
    return RefusedError(
        f"#{pull.number} comes from another repository, so its branch {pull.branch} is not merged "
        "here.",
        hint=f"A person can review and merge it on GitHub: {pull.url}",
    )


def _by(pull: Pull, by: Actor) -> Actor:
    """The original author, also if somebody else changes it."""
    return by if pull.author.startswith("@") else Actor(pull.author)


def _not_taken(request: NewPull, error: errors.InvalidError) -> RefusedError:
    return RefusedError(
        f"GitHub rejected the pull request of {request.branch}: {error.message or error}.",
        hint="First push the branch, with a commit that is not on main.",
    )
