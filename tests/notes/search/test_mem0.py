"""Through mem0: does what every knowledge base does, stays whole, and lets no error of its out."""

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.core.finding import warning
from ghp_agents.notes.note import Note
from ghp_agents.notes.search import embedder, mem0, thesaurus
from ghp_agents.notes.search.mem0 import Mem0Base
from ghp_agents.notes.search.result import Engine, Engines, IndexUpdate, KnowledgeError
from ghp_agents.notes.search.stale_indexes import HELD
from ghp_agents.notes.search.thesaurus import Thesaurus
from ghp_agents.ports import KnowledgeBase
from tests.contracts.knowledge_base import ALL, CORS, JWT, PORT, KnowledgeBaseContract
from tests.notes.search import teller
from tests.support.endpoint import Model, serving
from tests.support.memory import needs_mem0, needs_model
from tests.support.notes import note

HASHES = Path("hashed-1-1/qdrant")


def hashed(folder: Path, scope: str = "shop") -> Mem0Base:
    """mem0 with the degraded embedder, which takes no time."""
    return Mem0Base(folder / "index", scope, Engines(), hashes=True)


def found(base: KnowledgeBase, query: str, notes: list[Note], limit: int = 3) -> list[str]:
    return [hit.note for hit in base.search(query, notes, limit)]


@pytest.mark.slow
@needs_model
class TestMem0BaseByMeaning(KnowledgeBaseContract):
    @pytest.fixture
    def base(self, tmp_path: Path) -> KnowledgeBase:
        return Mem0Base(tmp_path / "index", "shop", Engines())

    def test_what_is_said_in_other_words_is_found(self, base: KnowledgeBase) -> None:
        hits = base.search("how do callers prove who they are", ALL, 1)
        assert [hit.note for hit in hits] == [JWT.id]


@needs_mem0
class TestMem0BaseByHashes(KnowledgeBaseContract):
    @pytest.fixture
    def base(self, tmp_path: Path) -> KnowledgeBase:
        lack = warning("knowledge", "There is better.", "Install it.")
        return Mem0Base(tmp_path / "index", "shop", Engines(), hashes=True, shortcomings=[lack])


# ---------------------------------------------------------------------------------- the index


@needs_mem0
def test_the_index_becomes_exactly_what_the_notes_say(tmp_path: Path) -> None:
    base = hashed(tmp_path)
    assert base.index(ALL) == IndexUpdate(3, added=3)
    changed = JWT._replace(text="Cookies")
    assert base.index([CORS, changed]) == IndexUpdate(2, changed=1, removed=1)
    again = hashed(tmp_path)
    assert again.index([CORS, changed]) == IndexUpdate(2)
    assert again.index(ALL) == IndexUpdate(3, added=1, changed=1)


@needs_mem0
def test_what_is_searched_is_brought_first(tmp_path: Path) -> None:
    assert found(hashed(tmp_path), "ingress strips OPTIONS", ALL, 1) == [CORS.id]
    assert hashed(tmp_path).index(ALL).nothing_new


@pytest.mark.slow
@needs_model
def test_what_is_no_note_any_more_is_in_no_other_embedders_index(tmp_path: Path) -> None:
    ours, theirs = hashed(tmp_path), Mem0Base(tmp_path / "index", "shop", Engines())
    ours.index(ALL)
    theirs.index(ALL)
    other = hashed(tmp_path, "other")
    other.index([PORT])
    assert (tmp_path / "index" / HASHES).exists()
    theirs.index([JWT, CORS])
    assert not (tmp_path / "index" / HASHES).exists()
    assert ours.index([JWT, CORS]) == IndexUpdate(2, added=2)
    other.index([PORT])
    assert theirs.index([JWT, CORS]).nothing_new


@needs_mem0
def test_an_index_that_does_not_say_what_it_holds_is_not_kept_beside_ours(tmp_path: Path) -> None:
    hashed(tmp_path).index(ALL)
    earlier = tmp_path / "index/hashed-0-1"
    shutil.copytree(tmp_path / "index" / HASHES.parent, earlier)
    hashed(tmp_path).index([JWT, CORS, PORT, note("One more")])
    assert earlier.exists()
    (listing,) = earlier.glob(f"*{HELD}")
    listing.unlink()
    hashed(tmp_path).index(ALL)
    assert not earlier.exists()


@needs_mem0
def test_projects_in_one_place_do_not_see_each_other(tmp_path: Path) -> None:
    one, other = hashed(tmp_path, "one"), hashed(tmp_path, "other")
    one.index([CORS])
    other.index([JWT])
    assert one.index([CORS]).nothing_new
    assert found(other, "ingress strips OPTIONS", [JWT]) in ([JWT.id], [])


@needs_mem0
def test_an_identifier_decides_where_vectors_see_no_difference(tmp_path: Path) -> None:
    many = [note(f"The limit is in unit-{number}.yaml, under limits") for number in range(30)]
    wanted = many[17]
    assert found(hashed(tmp_path), "what does unit-17.yaml say", many, 1) == [wanted.id]


def forget_questions() -> None:
    embedder._embed_question.cache_clear()


@pytest.mark.slow
@needs_model
def test_the_thesaurus_helps_where_vectors_see_nothing_in_common(tmp_path: Path) -> None:
    breaker = note("The circuit breaker opens after five errors.")
    account = note("A chargeback is booked on account 5690.")
    base = Mem0Base(tmp_path / "index", "shop", Engines())

    def lead() -> float:
        forget_questions()
        hits = base.search("What if their service is unavailable?", [breaker, account], 2)
        scores = {hit.note: hit.score for hit in hits}
        return scores[breaker.id] - scores[account.id]

    with_it = lead()
    with pytest.MonkeyPatch.context() as without:
        without.setattr(thesaurus, "load", lambda: Thesaurus([]))
        assert with_it > lead() + 0.1
    forget_questions()


@needs_mem0
@pytest.mark.parametrize("damage", ["meta", "data", "all"])
def test_a_broken_index_is_made_again(tmp_path: Path, damage: str) -> None:
    base = hashed(tmp_path)
    base.index(ALL)
    place = tmp_path / "index" / HASHES
    if damage == "meta":
        (place / "meta.json").write_bytes((place / "meta.json").read_bytes()[:20])
    elif damage == "data":
        (storage,) = place.rglob("storage.sqlite")
        storage.write_bytes(b"torn" * 999)
    else:
        shutil.rmtree(place)
    assert found(base, "ingress strips OPTIONS", ALL, 1) == [CORS.id]
    assert base.index(ALL).nothing_new


@pytest.mark.slow
@needs_mem0
def test_many_processes_with_one_index_end_with_what_the_notes_say(tmp_path: Path) -> None:
    crowd = [teller.start_index(tmp_path / "index", first) for first in range(4)]
    assert [process.communicate() for process in crowd] == [("", None)] * 4
    assert [process.returncode for process in crowd] == [0] * 4
    hashed(tmp_path).index(teller.FACTS)
    assert hashed(tmp_path).index(teller.FACTS).nothing_new


@needs_mem0
def test_who_cannot_have_the_index_in_time_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = hashed(tmp_path)
    base.index(ALL)
    monkeypatch.setattr(mem0, "TIMEOUT_S", 0.01)
    with files.locked(tmp_path / "index" / mem0.LOCK), pytest.raises(LockTimeoutError):
        base.search("x", ALL, 1)


@needs_mem0
def test_nothing_is_written_into_the_home(tmp_path: Path, home: Path) -> None:
    before = sorted(path.name for path in home.iterdir())
    hashed(tmp_path).search("x", ALL, 1)
    assert sorted(path.name for path in home.iterdir()) == before


# ----------------------------------------------------------------------- errors end at the door


@needs_mem0
@pytest.mark.parametrize(
    "engines",
    [
        Engines(embedder=Engine("no-such-embedder")),
        Engines(store=Engine("no-such-store")),
        Engines(store=Engine("qdrant", {"no_such_option": 1})),
        Engines(llm=Engine("no-such-model")),
        Engines(store=Engine("pgvector", {"host": "nowhere.invalid", "user": "x"})),
    ],
)  # fmt: skip
def test_a_set_up_that_does_not_work_is_an_error_of_ours(tmp_path: Path, engines: Engines) -> None:
    base = Mem0Base(tmp_path, "shop", engines, hashes=True)
    with pytest.raises(KnowledgeError) as caught:
        base.search("x", ALL, 1)
    assert str(caught.value).startswith("The notes cannot be searched: ")
    assert "agents.memory" in caught.value.hint


@needs_mem0
def test_a_place_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file")
    with pytest.raises(KnowledgeError, match="The search index cannot be updated"):
        hashed(tmp_path).index(ALL)


# --------------------------------------------------------------------------- a language model


@pytest.fixture
def serve() -> Iterator[Callable[[Model], str]]:
    """`serve(model)` answers the address of a server that speaks for it."""
    with contextlib.ExitStack() as stack:
        yield lambda model: stack.enter_context(serving(model))


def inferring(folder: Path, address: str) -> Mem0Base:
    llm = Engine("vllm", {"model": "m", "vllm_base_url": address, "api_key": "none"})
    return Mem0Base(folder, "shop", Engines(llm=llm, infer=True), hashes=True)


@pytest.mark.slow
@needs_mem0
def test_a_language_model_finds_the_facts_and_its_drafts_do_not_stay(
    tmp_path: Path, serve: Callable[[Model], str]
) -> None:
    answer = {"memory": [{"text": "The port is 80"}, {"text": "The host is blue"}]}
    model = Model(json.dumps(answer))
    base = inferring(tmp_path, serve(model))
    assert base.extract_facts("It runs on blue, port 80.") == ["The port is 80", "The host is blue"]
    assert "It runs on blue, port 80." in json.dumps(model.asked[0][1])
    base.index(ALL)
    assert {hit.note for hit in base.search("port 80 blue host", ALL, 9)} <= {
        note.id for note in ALL
    }
    assert base.index(ALL).nothing_new


@pytest.mark.slow
@needs_mem0
@pytest.mark.parametrize("answer", ["", "I am sorry.", "[1, 2]", '{"memory": []}', '{"memory": [{'])
def test_an_empty_or_broken_answer_of_the_model_stores_nothing_and_says_so(
    tmp_path: Path, serve: Callable[[Model], str], answer: str
) -> None:
    with pytest.raises(KnowledgeError) as caught:
        inferring(tmp_path, serve(Model(answer))).extract_facts("The port is 80.")
    assert str(caught.value).startswith("The language model ")
    assert caught.value.hint


@pytest.mark.slow
@needs_mem0
def test_a_model_that_refuses_or_is_away_is_an_error_of_ours(
    tmp_path: Path, serve: Callable[[Model], str]
) -> None:
    for address in (serve(Model("no", status=401)), "http://127.0.0.1:9/v1"):
        with pytest.raises(GhpError, match="The language model did not answer"):
            inferring(tmp_path, address).extract_facts("The port is 80.")


@pytest.mark.slow
@needs_mem0
def test_an_embedder_behind_an_address_is_used_by_configuration_alone(
    tmp_path: Path, serve: Callable[[Model], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "goes-elsewhere")
    model = Model("[1.0, 0.0, 0.0]")
    config = {
        "model": "m", "api_key": "none", "openai_base_url": serve(model), "embedding_dims": 3,
    }  # fmt: skip
    base = Mem0Base(tmp_path, "shop", Engines(embedder=Engine("openai", config)))
    assert {hit.note for hit in base.search("anything", ALL, 3)} == {CORS.id, JWT.id, PORT.id}
    assert {path for path, _ in model.asked} == {"/v1/embeddings"}
    assert len(model.asked) == 2, "the notes, together, and the question"
