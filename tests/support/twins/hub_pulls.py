"""The twin of emulate, with pull requests and check runs."""

from tests.support.faults import Asked, Said
from tests.support.github_gaps import NOT_FOUND, paged
from tests.support.proxy import HERE
from tests.support.twins.hub import ISSUES, IssueHub, Table, in_order
from tests.support.twins.hub_shapes import Row, repository, user


class Hub(IssueHub):
    """One repository with its pull requests; where branches are, git knows."""

    @property
    def table(self) -> Table:
        """What can be asked."""
        return _TABLE

    def _open(self, request: Asked) -> Said:
        row = self._begun(request)
        row |= {"head": request.body["head"], "base": request.body["base"], "merged_at": None}
        return Said(201, self._pull(row))

    def _opened(self, request: Asked) -> Said:
        query = request.query
        state, head = query.get("state", "open"), query.get("head", "").rpartition(":")[2]
        rows = [
            row
            for row in self._issues.values()
            if "head" in row and state in ("all", row["state"]) and head in ("", row["head"])
        ]
        return paged(request, [self._pull(row) for row in in_order(rows, query)])

    def _one_pull(self, request: Asked, number: str) -> Said:
        row = self._issues.get(int(number))
        if row is None or "head" not in row:
            return NOT_FOUND
        if request.verb == "PATCH":
            self._set_texts(row, request)
        return Said(200, self._pull(row))

    def _merge(self, request: Asked, number: str) -> Said:
        row = self._issues[int(number)]
        self._set_texts(row, request._replace(body={"state": "closed"}))
        row["merged_at"] = self._at
        body = {"sha": "0" * 40, "merged": True, "message": "Pull Request successfully merged"}
        return Said(200, body)

    def _pull(self, row: Row) -> Row:
        number, page = row["number"], f"{HERE}/{self.repository}/pull/{row['number']}"
        at, issue = f"{self._home}/pulls/{number}", f"{self._home}/issues/{number}"
        links = {
            "url": at, "html_url": page, "issue_url": issue, "commits_url": f"{at}/commits",
            "review_comments_url": f"{at}/comments", "comments_url": f"{issue}/comments",
            "review_comment_url": f"{self._home}/pulls/comments{{/number}}",
            "statuses_url": f"{self._home}/statuses/{'0' * 40}",
        }  # fmt: skip
        short = {"self": "url", "html": "html_url", "issue": "issue_url", "commits": "commits_url",
                 "comments": "comments_url", "review_comments": "review_comments_url",
                 "review_comment": "review_comment_url", "statuses": "statuses_url"}  # fmt: skip
        counts = dict.fromkeys(("additions", "deletions", "changed_files", "review_comments"), 0)
        return self._common(row) | links | counts | {
            "_links": {name: {"href": links[link]} for name, link in short.items()},
            "diff_url": f"{page}.diff", "patch_url": f"{page}.patch", "node_id": f"PR_{number}",
            "merged_at": row["merged_at"], "merge_commit_sha": None, "draft": row["draft"],
            "head": self._end(row["head"]), "base": self._end(row["base"]),
            "requested_reviewers": [], "requested_teams": [], "auto_merge": None,
            "merged": row["merged_at"] is not None, "mergeable": True, "rebaseable": True,
            "mergeable_state": "clean", "merged_by": None, "maintainer_can_modify": True,
            "commits": 1, "comments": self._count(number),
        }  # fmt: skip

    def _end(self, branch: str) -> Row:
        owner = self.repository.split("/")[0]
        end = {"label": f"{owner}:{branch}", "ref": branch, "sha": "0" * 40}
        return {**end, "user": user(owner), "repo": repository(self.repository)}

    def _check(self, request: Asked) -> Said:
        number = 1 + len(self._checks)
        nothing = dict.fromkeys(("conclusion", "started_at", "completed_at", "details_url", "app"))
        at = f"{self._home}/check-runs/{number}"
        suite = {"id": number}
        output = {**dict.fromkeys(("title", "summary", "text")), "annotations_count": 0}
        row = {
            "id": number, "node_id": f"CR_{number}", "external_id": "", "url": at, "html_url": at,
            "status": "queued", **nothing, "check_suite": suite, "pull_requests": [],
            **request.body,
        }  # fmt: skip
        self._checks[number] = row | {"output": output | request.body.get("output", {})}
        return Said(201, _copy(self._checks[number]))

    def _checked(self, request: Asked, number: str) -> Said:
        row = self._checks.get(int(number))
        if row is None:
            return NOT_FOUND
        if request.verb == "PATCH":
            output = row["output"] | request.body.get("output", {})
            row |= {**request.body, "output": output}
        return Said(200, _copy(row))


def _copy(row: Row) -> Row:
    """A row that the caller may change."""
    return {name: {**value} if isinstance(value, dict) else value for name, value in row.items()}


_TABLE: Table = (
    *ISSUES,
    ("POST", "REPO/pulls", Hub._open),
    ("GET", "REPO/pulls", Hub._opened),
    *((verb, r"REPO/pulls/(\d+)", Hub._one_pull) for verb in ("GET", "PATCH")),
    ("PUT", r"REPO/pulls/(\d+)/merge", Hub._merge),
    ("POST", "REPO/check-runs", Hub._check),
    *((verb, r"REPO/check-runs/(\d+)", Hub._checked) for verb in ("GET", "PATCH")),
)
