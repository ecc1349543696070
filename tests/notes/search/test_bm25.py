"""Ranking by words alone."""

from ghp_agents.notes.search.bm25 import names, rank, rare_in_common, shared_names, terms

TEXTS = {
    "cors": "CORS preflights fail on staging because the ingress strips OPTIONS.",
    "jwt": "We authenticate to the API with JWTs signed by the identity service.",
    "twice": "The API of the tax office answers twice a second.",
}


def best(query: str) -> list[str]:
    scores = rank(query, TEXTS)
    return sorted(scores, key=lambda key: -scores[key])


def test_words_count_in_any_form_and_stop_words_do_not() -> None:
    assert terms("The policies were failing on staging") == ["policy", "fail", "stag"]
    assert rank("what is the", TEXTS) == {}


def test_a_rare_word_counts_more_than_one_that_many_have() -> None:
    assert best("which API signs") == ["jwt", "twice"]
    assert best("OPTIONS requests failed") == ["cors"]


def test_what_few_texts_have_in_common_with_a_question_is_counted() -> None:
    texts = TEXTS | {str(n): "a word about staging" for n in range(3)}
    shared = rare_in_common("The ingress on staging strips a header", texts)
    assert shared == {"cors": 2, "jwt": 0, "twice": 0, "0": 0, "1": 0, "2": 0}


def test_nothing_is_found_among_nothing() -> None:
    assert rank("anything", {}) == {}


def test_identifiers_are_told_from_words() -> None:
    text = "Set WATCHER=off in worker.yaml (see `X-Tenant`), or pg_advisory_xact_lock() for n042."
    assert names(text) == {
        "watcher=off", "worker.yaml", "x-tenant", "pg_advisory_xact_lock", "n042",
    }  # fmt: skip
    assert names("A plain sentence. With words, (only) words!") == set()


def test_a_text_is_judged_by_how_many_identifiers_it_has() -> None:
    wanted = names("worker.yaml and X-Tenant")
    assert shared_names(wanted, "Raise the limit in Worker.YAML") == 0.5
    assert shared_names(set(), "anything") == 0.0
