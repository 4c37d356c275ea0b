"""`probeta train`: encoders that learn from documents, are resumed, and load anywhere."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contents import contents
from instance_files import row, write_dataset
from sentence_transformers import SentenceTransformer
from stage_lines import untimed

from corpora_recipes.records import Document, Section
from evaluation.encoders import make_encoder
from evaluation.training import training
from probeta.cli import main

Toy = Callable[..., list[str]]
Capsys = pytest.CaptureFixture[str]
NAMES = ("molino", "puente", "faro", "tren", "río", "perro", "gato", "monte")
ALL = {"nsp": 1, "nl": 0.5, "spp": 0.5, "sdt": 1}
LEAKED = "El faro de la costa brilla mucho."


def documents() -> list[Document]:
    """Return forty articles, each about one thing, in sections of two levels."""
    articles = []
    for number in range(40):
        name = NAMES[number % len(NAMES)]
        lead = [[f"El {name} {number} es viejo.", f"Un {name} así dura cien años."]]
        body = [[f"El {name} se hizo en {1800 + number}."], [f"Luego el {name} cambió.", LEAKED]]
        sections = [Section("", 1, lead), Section("Historia", 2, body)]
        split = "test" if number % 10 == 9 else "train"
        articles.append(Document(str(number), name.title(), (), sections, split))
    return articles


def write_ordering(name: str, sentence: str) -> None:
    rows = [row(i, i % 2, sentences=[sentence, f"Frase {i}."]) for i in range(6)]
    splits = {"train": rows[:2], "validation": rows[2:4], "test": rows[4:]}
    write_dataset(Path("dist/hub", name), "sentence_ordering", splits)


MODEL = Path("data/trained/own")
UNFINISHED = MODEL.with_name(".own.unfinished")


@pytest.fixture
def toy(
    empty_folder: Path, write_records: Callable[..., Path], write_params: Callable[..., Path]
) -> Toy:
    """Return a function that adds an entry to `trained`, and returns the command for it."""
    Path("data/records").mkdir(parents=True)
    write_records(documents()).rename("data/records/mine.parquet")
    write_ordering("bso_own", LEAKED)
    corpora = {"mine": {"corpus": {"recipe": "documents", "language": "es", "path": "x"}}}
    entries: dict[str, Any] = {}

    def command(name: str = "own", **options: Any) -> list[str]:
        entries[name] = {"corpus": "mine", "objectives": ALL, "batch": 16} | options
        write_params(corpora, trained=entries)
        return ["train", "--only", name, "--strict"]

    return command


def test_a_trained_encoder(
    toy: Toy, capsys: Capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert main([*toy(epochs=12), "--verbose"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("own: 144 sentences in 36 documents, 36 skipped as they are in tests\n")
    folder = MODEL
    assert not UNFINISHED.exists()
    # Nothing of the documents of test, and nothing that is tested.
    words = json.loads((folder / "tokenizer.json").read_bytes())["model"]["vocab"]
    assert "molino" in words
    assert not {"1809", "brilla", "costa"} & words.keys()

    # It has learnt: of all losses, the last are below the first.
    curve = json.loads((folder / "training.json").read_bytes())["curve"]
    assert all(curve[-1][key] < curve[0][key] for key in ALL)
    assert len(curve) == training.POINTS

    card = (folder / "README.md").read_text("utf-8")
    assert "36 sentences of six words or more" in card
    assert "`bso_own`" in card
    assert "| nl | nesting level of the section | 0.5 |" in card
    assert f"| {curve[0]['step']} | {curve[0]['nsp']:.3f} |" in card

    # The pipeline takes it as a model of sentence-transformers, without running code of its folder.
    code = (folder / "word_gru.py").read_text("utf-8")
    (folder / "word_gru.py").write_text("raise SystemExit", "utf-8")
    encoder = make_encoder("own", {"encoder": "sentence_transformers", "model": str(folder)})
    texts = ["El molino es viejo.", "", "un perro verde", "palabra"]
    vectors = encoder.encode(texts)
    assert vectors.shape == (4, 1, 256)
    assert not vectors[1].any()
    assert encoder.encode(texts[::-1])[::-1] == pytest.approx(vectors, abs=1e-6)

    # And so does anybody else, with the code that is beside it and needs nothing of ours.
    (folder / "word_gru.py").write_text(code, "utf-8")
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "hf"))
    monkeypatch.setattr("sys.path", list(sys.path))
    model = SentenceTransformer(str(folder), trust_remote_code=True, device="cpu")
    assert type(model[0]).__module__.startswith("transformers_modules.")
    assert "evaluation" not in code
    assert model.encode(texts) == pytest.approx(vectors[:, 0], abs=1e-6)

    # Nothing has changed; or nothing that decides the weights.
    before = contents(folder)
    assert main(toy(epochs=12)) == 0
    assert untimed(capsys.readouterr().out) == "train: 1 encoder reused\n"
    assert contents(folder) == before
    write_ordering("bso_new", "Una.")
    assert main([*toy(epochs=12), "--verbose"]) == 0
    assert "; model reused\n" in capsys.readouterr().out
    now = contents(folder)
    assert {name for name in now if now[name] != before[name]} == {"README.md"}


class Killed(BaseException):
    pass


def test_killed_at_any_step_and_resumed_it_ends_with_the_same_bytes(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = toy(epochs=2)
    assert main(command) == 0
    whole = contents(MODEL)
    assert len(whole) == 9
    shutil.rmtree(MODEL)
    step = training._step
    monkeypatch.setattr(training, "CHECKPOINT_TIMES", 0)
    for place, limit in enumerate((1, 5, 9, 14, 17)):
        # Checkpoints after every step, or none since the one before.
        monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0 if place % 2 == 0 else 1e9)

        def until(*given: Any, limit: int = limit) -> Any:
            if given[5] >= limit:
                raise Killed
            return step(*given)

        monkeypatch.setattr(training, "_step", until)
        with pytest.raises(Killed):
            main(command)
        assert not MODEL.exists()
    monkeypatch.setattr(training, "_step", step)
    assert main(command) == 0
    assert contents(MODEL) == whole


def test_a_killed_process_is_resumed(toy: Toy, capsys: Capsys) -> None:
    command = toy(epochs=2)
    child = os.fork()
    if not child:
        training.CHECKPOINT_SECONDS, training.CHECKPOINT_TIMES = 0.0, 0
        save = training.save_file

        def killed(tensors: Any, path: Path, metadata: dict[str, str]) -> None:
            save(tensors, path, metadata)
            if json.loads(metadata["state"])["step"] == 7:
                os.kill(os.getpid(), signal.SIGKILL)

        training.save_file = killed
        main(command)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    # The seventh checkpoint was not in its place yet: it goes on from the sixth.
    checkpoint = UNFINISHED / "checkpoint.safetensors"
    content = checkpoint.read_bytes()
    checkpoint.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    assert main(command) == 1
    assert "other content than was written" in capsys.readouterr().err
    checkpoint.write_bytes(content)
    assert main(command) == 0
    resumed = contents(MODEL)
    shutil.rmtree(MODEL)
    assert main(command) == 0
    assert contents(MODEL) == resumed


def weights(name: str) -> bytes:
    return Path("data/trained", name, "model.safetensors").read_bytes()


def test_what_decides_the_weights(toy: Toy) -> None:
    runs: dict[str, dict[str, Any]] = {"one": {}, "seed": {"seed": 2}, "untrained": {"epochs": 0}}
    runs |= {"weight": {"objectives": ALL | {"nl": 2}}}
    runs |= {"other": {"epochs": 0, "objectives": {"nl": 1}}}
    for name, options in runs.items():
        assert main(toy(name, **options)) == 0
    assert len({weights(name) for name in runs}) == 4
    # Encoders that differ in their objectives start from the same weights.
    assert weights("untrained") == weights("other")
    assert main(toy("seed2", seed=2)) == 0
    assert weights("seed2") == weights("seed")


def test_the_published_setting(toy: Toy) -> None:
    assert main(toy(setting="published", batch=40)) == 0
    assert SentenceTransformer(str(MODEL), trust_remote_code=True).encode("El").shape == (600,)


def test_a_checkpoint_of_another_setting(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, capsys: Capsys
) -> None:

    def killed(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(training, "_step", killed)
        with pytest.raises(Killed):
            main(toy())
    assert main(toy(seed=2)) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"error: {UNFINISHED}\n")
    assert "one with another training" in message
    (UNFINISHED / "checkpoint.safetensors").write_bytes(b"no checkpoint")
    assert main(toy()) == 1
    assert "expected: the checkpoint of this training" in capsys.readouterr().err
    shutil.rmtree(UNFINISHED)
    assert main(toy(seed=2)) == 0


def test_losses_that_are_not_finite(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, capsys: Capsys
) -> None:
    monkeypatch.setattr(training, "_step", lambda *_: {"nsp": float("nan")})
    assert main(toy()) == 1
    assert "losses that are finite" in capsys.readouterr().err


def test_a_vocabulary_without_words(
    toy: Toy, write_records: Callable[..., Path], capsys: Capsys
) -> None:
    command = toy(objectives={"nsp": 1})
    document = Document("1", "", (), [Section("", 1, [["", ""]])], "train")
    write_records([document]).rename("data/records/mine.parquet")
    assert main(command) == 1
    assert "the vocabulary" in capsys.readouterr().err


def test_a_pretrained_transformer_learns_the_same(toy: Toy, minilm: str, capsys: Capsys) -> None:
    options: dict[str, Any] = {"model": minilm, "sentences": 20, "batch": 20, "epochs": 3}
    assert main(toy(**options)) == 0
    curve = json.loads((MODEL / "training.json").read_bytes())["curve"]
    assert curve[-1].keys() == {"step", *ALL}
    assert all(curve[-1][key] < curve[0][key] for key in ("nsp", "nl", "spp"))
    # It is a model of sentence-transformers as it was, of its own modules alone.
    texts = ["El molino es viejo."]
    after, before = (
        SentenceTransformer(folder, device="cpu").encode(texts) for folder in (str(MODEL), minilm)
    )
    assert after.shape == before.shape == (1, 384)
    assert 0.5 < float((after @ before.T)[0, 0]) < 0.9999
    assert "It was trained further from" in (MODEL / "README.md").read_text("utf-8")
    assert main(toy("again", **options)) == 0
    assert weights("again") == weights("own")
    capsys.readouterr()
    assert main(toy("none", model="there/is/none")) == 1
    assert "model there/is/none" in capsys.readouterr().err
