"""What every knowledge base does. A test class inherits it and says how one is made."""

from ghp_agents.ports import KnowledgeBase
from tests.support.notes import note

CORS = note("Preflight requests fail on staging because the ingress strips OPTIONS")
JWT = note("We authenticate with JWTs signed by the identity service")
PORT = note("The metrics port of worker.yaml is 9090")
ALL = [CORS, JWT, PORT]


class KnowledgeBaseContract:
    """Inherit it, with a fixture `base` that answers a new knowledge base."""

    def test_what_shares_words_with_the_question_is_found_first(self, base: KnowledgeBase) -> None:
        hits = base.search("which service signed the JWTs", ALL, 3)
        assert hits[0].note == JWT.id
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    def test_no_more_is_found_than_was_asked_for(self, base: KnowledgeBase) -> None:
        assert len(base.search("port on staging JWTs", ALL, 1)) == 1

    def test_only_what_is_asked_about_is_searched(self, base: KnowledgeBase) -> None:
        hits = base.search("which service signed the JWTs", ALL, 3, {PORT.id, CORS.id})
        assert JWT.id not in {hit.note for hit in hits}
        assert base.search("JWTs", ALL, 3, set()) == []

    def test_only_the_given_notes_are_found_whatever_was_there_before(
        self, base: KnowledgeBase
    ) -> None:
        assert base.search("which service signed the JWTs", ALL, 3)[0].note == JWT.id
        left = [CORS, PORT]
        assert {hit.note for hit in base.search("JWTs port staging", left, 3)} <= {
            CORS.id, PORT.id,
        }  # fmt: skip

    def test_a_changed_text_is_found_by_its_new_words_alone(self, base: KnowledgeBase) -> None:
        base.search("JWTs", ALL, 3)
        changed = JWT._replace(text="Cookies carry the session of administrators")
        hits = base.search("session cookies of administrators", [CORS, changed, PORT], 1)
        assert [hit.note for hit in hits] == [JWT.id]

    def test_bringing_the_same_again_changes_nothing(self, base: KnowledgeBase) -> None:
        assert base.index(ALL).total == 3
        assert base.index(ALL).nothing_new
        assert base.index([*ALL]).nothing_new
        assert base.index([]).total == 0
        assert base.index([]).nothing_new

    def test_nothing_is_found_among_nothing(self, base: KnowledgeBase) -> None:
        assert base.search("anything", [], 5) == []

    def test_without_a_language_model_a_text_is_its_own_fact(self, base: KnowledgeBase) -> None:
        assert list(base.extract_facts("Two facts. In one text.")) == ["Two facts. In one text."]

    def test_any_text_can_be_searched_and_asked(self, base: KnowledgeBase) -> None:
        odd = [note("�" * 9), note("é" * 3000), note("''; DROP TABLE notes; --"), note("…")]
        for query in ("�", "' OR 1=1", "%s {} \\", "\n\t x", "?" * 500):
            assert isinstance(base.search(query, odd, 2), list)

    def test_every_shortcoming_comes_with_a_remedy(self, base: KnowledgeBase) -> None:
        assert all(finding.code == "knowledge" and finding.remedy for finding in base.health())
