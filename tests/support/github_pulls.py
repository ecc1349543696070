"""Pull requests whose branches lie in a real bare repository, which emulate knows nothing of.

Emulate keeps their texts and states. Where a branch is, whether it fits and what a merge makes
is asked of git, and GitHub's refusals (a moved head, a conflict, a draft, a second one for the same
branch) are those that GitHub has.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.support.faults import Asked, Said
from tests.support.git import git, read_ref, run_git
from tests.support.github_gaps import NOT_FOUND, Gaps, invalid, paged
from tests.support.github_queue import MergeQueue
from tests.support.proxy import DOCS, HERE

NUMBER = r"pulls/(\d+)"
CLOSING = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)", re.IGNORECASE)
WHO = ("-c", "user.name=GitHub", "-c", "user.email=noreply@github.com")
DATE = {
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z"
}  # fmt: skip
# Fields that a pull request has when it is asked for alone, and not in a list.
ALONE = (
    "additions", "changed_files", "comments", "commits", "deletions",
    "maintainer_can_modify", "mergeable", "mergeable_state", "merged", "merged_by", "rebaseable",
    "review_comments",
)  # fmt: skip


class Pulls:
    """The pull requests of one repository."""

    def __init__(self, gaps: Gaps, remote: Path) -> None:
        self.gaps, self.remote = gaps, remote
        self._heads: dict[int, str] = {}  # of those that are no longer open
        self._merges: dict[int, str] = {}
        self._trees: dict[tuple[str, str], str | None] = {}  # of two commits, what a merge has
        self._known: dict[int, str] = {}  # number and branch of each that was opened
        self._checks: dict[str, list[int]] = {}  # check runs by commit
        self.rule = ""  # what a rule answers to every merge
        self.queue: MergeQueue | None = None  # if one is required
        self.hides: set[str] = set()  # permissions that the token lacks: checks, actions, statuses
        self.workflow_runs: list[dict[str, object]] = []

    def answer(self, request: Asked, below: str) -> Said | None:
        """What GitHub says; None if it is not about pull requests."""
        for verbs, pattern, function in _TABLE:
            match = re.fullmatch(pattern, below)
            if match and request.verb in verbs.split():
                response: Said | None = function(self, request, *match.groups())
                return response
        return None

    # ------------------------------------------------------------ one, and many

    def open(self, request: Asked) -> Said:
        """A new one, for a branch that is there, has something new and has none yet."""
        head, base = request.body["head"].rpartition(":")[2], request.body["base"]
        sha, onto = self.branch(head), self.branch(base)
        for name, commit in (("head", sha), ("base", onto)):
            if commit is None:
                return _invalid(name, "invalid")
        if run_git(self.remote, "merge-base", "--is-ancestor", str(sha), str(onto)).returncode == 0:
            return invalid(f"No commits between {base} and {head}", "head")
        if any(branch == head and n not in self._heads for n, branch in self._known.items()):
            owner = self.gaps.repository.split("/")[0]
            return invalid(f"A pull request already exists for {owner}:{head}.", "head")
        response = self.gaps.below(request._replace(body={**request.body, "head": head}))
        if response.status != 201:
            return response
        self._known[response.body["number"]] = head
        return response._replace(body=self.told(response.body))

    def one(self, request: Asked, number: str) -> Said:
        """One pull request."""
        response = self.gaps.below(request)
        return (
            response if response.status != 200 else response._replace(body=self.told(response.body))
        )

    def listed(self, request: Asked) -> Said:
        """Pull requests; the branch in `head` has its owner before it."""
        response = self.gaps.below(request)
        if response.status != 200:
            return response
        pulls = [self.told(x) for x in response.body]
        return response._replace(
            body=[{k: v for k, v in x.items() if k not in ALONE} for x in pulls]
        )

    def change(self, request: Asked, number: str) -> Said:
        """Texts and states; that it is a draft is not changed by REST."""
        body = {k: v for k, v in request.body.items() if k != "draft"}
        n = int(number)
        if body.get("state") == "closed" and n not in self._heads:
            self._heads[n] = self.branch(self._known[n]) or ""
        response = self.gaps.below(request._replace(body=body))
        if response.status == 200 and response.body["state"] == "open":
            self._heads.pop(n, None)
        return (
            response if response.status != 200 else response._replace(body=self.told(response.body))
        )

    def told(self, pull: dict[str, Any]) -> dict[str, Any]:
        """A pull request with what git knows of it."""
        number = pull["number"]
        head = self._heads.get(number) or self.branch(pull["head"]["ref"]) or pull["head"]["sha"]
        base = self.branch(pull["base"]["ref"]) or pull["base"]["sha"]
        if number not in self._heads:
            fits = pull["state"] == "open" and self._merged_tree(base, head) is not None
            state = "draft" if pull["draft"] else "clean" if fits else "dirty"
            pull |= {"mergeable": fits, "rebaseable": fits, "mergeable_state": state}
            pull["merge_commit_sha"] = None
        else:
            pull |= {"mergeable": None, "rebaseable": None, "mergeable_state": "unknown"}
            pull["merge_commit_sha"] = self._merges.get(number)
        pull["head"]["sha"], pull["base"]["sha"] = head, base
        return pull

    # ------------------------------------------------------------ merging

    def merge(self, request: Asked, number: str) -> Said:
        """By a merge, squashed or rebased; onto the real branch, and closing what it names."""
        n, body = int(number), request.body or {}
        if n not in self._known:
            return NOT_FOUND
        pull = self.told(self.gaps.ask("GET", f"pulls/{n}").body)
        words = self.queue.words(n) if self.queue else self.rule
        if words:
            return Said(405, {"message": words, "documentation_url": DOCS})
        if pull["state"] != "open" or pull["draft"] or not pull["mergeable"]:
            return Said(
                405, {"message": "Pull Request is not mergeable", "documentation_url": DOCS}
            )
        head, base = pull["head"]["sha"], pull["base"]["sha"]
        if body.get("sha", head) != head:
            why = "Head branch was modified. Review and try the merge again."
            return Said(409, {"message": why, "documentation_url": DOCS})
        commit = self._commit(pull, head, base, body)
        git(self.remote, "update-ref", f"refs/heads/{pull['base']['ref']}", commit, base)
        self._heads[n], self._merges[n] = head, commit
        done = self.gaps.below(request._replace(body={}))
        assert done.status == 200, done
        texts = [
            pull["body"] or "",
            body.get("commit_message") or "",
            body.get("commit_title") or "",
        ]
        texts.append(git(self.remote, "log", "--format=%B", f"{base}..{head}"))
        for closed in {*CLOSING.findall("\n".join(texts))}:
            if self.gaps.ask("GET", f"issues/{closed}").status == 200:
                done_so = {"state": "closed", "state_reason": "completed"}
                self.gaps.ask("PATCH", f"issues/{closed}", done_so, request.login)
        return Said(200, {"sha": commit, "merged": True, "message": done.body["message"]})

    def _commit(
        self, pull: Mapping[str, Any], head: str, base: str, body: Mapping[str, Any]
    ) -> str:
        how = body.get("merge_method", "merge")
        tree = self._merged_tree(base, head)
        assert tree
        title = body.get("commit_title") or f"{pull['title']} (#{pull['number']})"
        if how == "merge" and not body.get("commit_title"):
            title = f"Merge pull request #{pull['number']} from {pull['head']['ref']}"
        message = f"{title}\n\n{body.get('commit_message') or ''}".strip()
        parents = {"merge": [base, head], "squash": [base]}.get(how)
        if parents is None:
            return self._rebased(head, base)
        flags = [flag for parent in parents for flag in ("-p", parent)]
        return git(self.remote, *WHO, "commit-tree", tree, *flags, "-m", message, env=DATE)

    def _rebased(self, head: str, base: str) -> str:
        """Each commit once more, on the other base."""
        onto = base
        for commit in git(self.remote, "rev-list", "--reverse", f"{base}..{head}").split():
            tree = self._merged_tree(onto, commit)
            assert tree
            message = git(self.remote, "log", "-1", "--format=%B", commit)
            onto = git(self.remote, *WHO, "commit-tree", tree, "-p", onto, "-m", message, env=DATE)
        return onto

    def _merged_tree(self, base: str, head: str) -> str | None:
        """What a merge would have; None if they conflict."""
        if (base, head) not in self._trees:
            done = run_git(self.remote, "merge-tree", "--write-tree", base, head)
            tree = done.stdout.splitlines()[0] if done.returncode == 0 else None
            if done.returncode not in (0, 1):  # a commit is not there yet
                return None
            self._trees[base, head] = tree
        return self._trees[base, head]

    # ------------------------------------------------------------ branches and checks

    def branch(self, name: str) -> str | None:
        """Where a branch of the real remote is."""
        return read_ref(self.remote, f"refs/heads/{name}")

    def ref(self, request: Asked, name: str) -> Said:
        """A branch by git's own name, to look at or to delete."""
        sha = self.branch(name)
        if request.verb == "DELETE":
            if sha is None:
                return Said(422, {"message": "Reference does not exist", "documentation_url": DOCS})
            git(self.remote, "update-ref", "-d", f"refs/heads/{name}", sha)
            return Said(204)
        if sha is None:
            return NOT_FOUND
        at = f"{HERE}/repos/{self.gaps.repository}/git"
        target = {"type": "commit", "sha": sha, "url": f"{at}/commits/{sha}"}
        url, node = f"{at}/refs/heads/{name}", f"REF_{sha[:12]}"
        return Said(
            200, {"ref": f"refs/heads/{name}", "node_id": node, "url": url, "object": target}
        )

    def check(self, request: Asked) -> Said:
        """A new check run of a commit."""
        response = self.gaps.below(request)
        if response.status == 201:
            self._checks.setdefault(request.body["head_sha"], []).append(response.body["id"])
        return response._replace(body=_run(response.body))

    def checked(self, request: Asked, number: str) -> Said:
        """One check run, looked at or changed."""
        response = self.gaps.below(request)
        return response._replace(body=_run(response.body))

    def checks(self, request: Asked, ref: str) -> Said:
        """The check runs of a commit."""
        if "checks" in self.hides:  # no fine-grained token can get it
            return _without("checks")
        checks = self._checks.get(self.branch(ref) or ref, [])
        runs = [_run(self.gaps.ask("GET", f"check-runs/{number}").body) for number in checks]
        page = paged(request, runs)
        return page._replace(body={"total_count": len(runs), "check_runs": page.body})

    def status(self, request: Asked, ref: str) -> Said:
        """The older kind of checks, which nobody sets here."""
        if "statuses" in self.hides:
            return _without("statuses")
        sha = self.branch(ref) or ref
        url = f"{HERE}/repos/{self.gaps.repository}/commits/{sha}"
        body = {"state": "pending", "statuses": [], "sha": sha, "total_count": 0}
        repository = self.gaps.ask("GET", "").body
        return Said(
            200, {**body, "repository": repository, "commit_url": url, "url": f"{url}/status"}
        )

    def actions(self, request: Asked) -> Said:
        """The runs of workflows for a commit."""
        if "actions" in self.hides:
            return _without("actions")
        sha, repository = request.query["head_sha"], self.gaps.ask("GET", "").body
        url = f"{HERE}/repos/{self.gaps.repository}/actions/runs/1"
        of: dict[str, Any] = {name: f"{url}/{name}" for name in _RUN_URLS}
        of |= {"head_repository": repository, "repository": repository, "head_commit": None}
        of |= {"node_id": "W1", "head_branch": "b", "run_number": 1, "display_title": "CI"}
        of |= {"path": ".github/workflows/ci.yml", "pull_requests": [], "created_at": WHEN}
        runs = [{**of, "updated_at": WHEN, **x} for x in self.workflow_runs if x["head_sha"] == sha]
        page = paged(request, runs)
        return page._replace(body={"total_count": len(page.body), "workflow_runs": page.body})

    # ------------------------------------------------------------ as issues

    def issues(self, request: Asked) -> Said | None:
        """GitHub lists pull requests among the issues."""
        if not self._known:
            return None
        query = {k: v for k, v in request.query.items() if k not in ("page", "per_page")}
        listed = [*self.gaps.every("issues", **query), *self._as_issues(query)]
        field = {"updated": "updated_at", "comments": "comments"}.get(
            query.get("sort", ""), "created_at"
        )
        listed.sort(key=lambda x: x[field], reverse=query.get("direction", "desc") == "desc")
        response = paged(request, listed)
        return self.gaps.mended(response, "issues")

    def issue(self, request: Asked, number: str) -> Said | None:
        """A pull request, looked at as an issue."""
        if int(number) not in self._known:
            return None
        pull = self.gaps.ask("GET", f"pulls/{number}")
        return self.gaps.mended(pull._replace(body=self._as_issue(pull.body)), "")

    def _as_issues(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        state, labels = query.get("state", "open"), {*query.get("labels", "").split(",")} - {""}
        pulls = self.gaps.every("pulls", state="all")
        chosen = [x for x in pulls if state in ("all", x["state"])]
        chosen = [x for x in chosen if x["updated_at"] >= query.get("since", "")]
        return [
            self._as_issue(x) for x in chosen if labels <= {label["name"] for label in x["labels"]}
        ]

    def _as_issue(self, pull: Mapping[str, Any]) -> dict[str, Any]:
        at = f"{HERE}/repos/{self.gaps.repository}/issues/{pull['number']}"
        kept = {k: pull.get(k) for k in _SHARED}
        links = {k: pull[k] for k in ("url", "html_url", "diff_url", "patch_url", "merged_at")}
        counts = dict.fromkeys(
            ("total_count", "+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"), 0
        )
        return {
            **kept,
            "url": at,
            "repository_url": at.rpartition("/issues/")[0],
            "labels_url": f"{at}/labels{{/name}}",
            "comments_url": f"{at}/comments",
            "events_url": f"{at}/events",
            "timeline_url": f"{at}/timeline",
            "comments": pull.get("comments", 0),
            "state_reason": None,
            "pull_request": links,
            "reactions": {"url": f"{at}/reactions", **counts},
            "performed_via_github_app": None,
        }


def _run(run: Any) -> Any:
    """A check run as GitHub tells it: its annotations are elsewhere."""
    if isinstance(run, dict) and "output" in run:
        run["output"].pop("annotations", None)
        run["output"]["annotations_url"] = f"{run['url']}/annotations"
    return run


WHEN = "2026-01-02T03:04:05Z"
_RUN_URLS = (
    *("url", "html_url", "jobs_url", "logs_url", "check_suite_url", "cancel_url", "rerun_url"),
    *("artifacts_url", "workflow_url"),
)


def _without(permission: str) -> Said:
    """GitHub's answer to a fine-grained token that lacks a permission."""
    body = {"message": "Resource not accessible by personal access token"}
    needed = {"X-Accepted-GitHub-Permissions": f"{permission}=read"}
    return Said(403, {**body, "documentation_url": DOCS}, needed)


def _invalid(field: str, code: str) -> Said:
    error = {"resource": "PullRequest", "field": field, "code": code}
    return Said(422, {"message": "Validation Failed", "errors": [error], "documentation_url": DOCS})


_SHARED = (
    "id", "node_id", "number", "title", "user", "labels", "state", "locked", "active_lock_reason",
    "assignee", "assignees", "milestone", "created_at", "updated_at", "closed_at", "body",
    "html_url", "author_association", "draft",
)  # fmt: skip
_TABLE: tuple[tuple[str, str, Callable[..., Said | None]], ...] = (
    ("POST", r"pulls", Pulls.open),
    ("GET", r"pulls", Pulls.listed),
    ("GET", NUMBER, Pulls.one),
    ("PATCH", NUMBER, Pulls.change),
    ("PUT", rf"{NUMBER}/merge", Pulls.merge),
    ("GET", r"git/ref/heads/(.+)", Pulls.ref),
    ("DELETE", r"git/refs/heads/(.+)", Pulls.ref),
    ("POST", r"check-runs", Pulls.check),
    ("GET PATCH", r"check-runs/(\d+)", Pulls.checked),
    ("GET", r"commits/(.+)/check-runs", Pulls.checks),
    ("GET", r"actions/runs", Pulls.actions),
    ("GET", r"commits/(.+)/status", Pulls.status),
    ("GET", r"issues", Pulls.issues),
    ("GET", r"issues/(\d+)", Pulls.issue),
)
