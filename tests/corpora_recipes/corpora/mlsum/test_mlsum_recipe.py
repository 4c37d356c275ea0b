"""MLSUM: news items and their subheads, boilerplate, captions, and lines that are no items."""

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables
from hypothesis import given
from hypothesis import strategies as st
from recipe_reading import read_all, recipe_corpus, refused, write_lines

from corpora_recipes.corpora.mlsum import recipe
from corpora_recipes.corpora.mlsum.recipe import ENDLESS, FILES, find_caption
from corpora_recipes.fetching import sources
from corpora_recipes.recipe import load_facts
from corpora_recipes.records import Document, Section

TABLES = read_tables(__file__)

FACTS = load_facts("mlsum")
RULES = FACTS.special["rules"]["es"]
GOOD = TABLES["good"]


corpus = partial(recipe_corpus, "mlsum")


def write(folder: Path, *rows: Any, name: str = "es_train.jsonl") -> Path:
    write_lines(folder, name, *rows)
    for part in FILES:
        if not (other := folder / f"{name[:2]}_{part}.jsonl").exists():
            other.write_text("\n")
    return folder


def read(raw: Path, language: str = "es") -> tuple[list[Document], dict[str, Any]]:
    return read_all(recipe, raw, corpus(language))


def body(folder: Path, text: str) -> tuple[list[list[str]], dict[str, Any]]:
    """Return the sentences of each section that a body comes to, and the counts."""
    records, drops = read(write(folder, {**GOOD, "text": text}))
    sections = [[s for p in x.paragraphs for s in p] for r in records for x in r.sections]
    return sections, drops


def subhead(folder: Path, text: str) -> list[str]:
    ((document,), _) = read(write(folder, {**GOOD, "summary": text}))
    return list(document.summary)


def test_an_item(tmp_path: Path) -> None:
    section = Section("", 1, [["El puerto cerrará dos días.", "Las obras siguen."]])
    topics, summary = ["ccaa", "madrid"], ["Dos días sin barcos."]
    title = "El puerto cierra"
    item = Document(GOOD["url"], title, topics, [section], "train", summary=summary)
    records, counts = read(write(tmp_path, GOOD))
    assert records == [item]
    kept = {unit: numbers["kept"] for unit, numbers in counts.items()}
    assert kept == {"documents": 1, "sentences": 2, "summary_sentences": 1}


def test_splits_by_file(tmp_path: Path) -> None:
    for part in FILES:
        write(tmp_path, {**GOOD, "url": part}, name=f"es_{part}.jsonl")
    splits = {r.id: r.split for r in read(tmp_path)[0]}
    assert splits == {"train": "train", "val": "validation", "test": "test"}


@pytest.mark.parametrize(("text", "reason"), TABLES["dropped"])
def test_items_that_are_dropped(tmp_path: Path, text: str, reason: str) -> None:
    records, drops = read(write(tmp_path, {**GOOD, "text": text}))
    assert (records, drops["documents"]["dropped"]) == ([], {reason: 1})


def test_another_language_is_taken_as_it_is(tmp_path: Path) -> None:
    text = "İskele iki gün kapalı. Fotoğraf çekmek yasak (AFP). Çalışmalar sürüyor."
    write(tmp_path, {**GOOD, "text": text}, name="tu_val.jsonl")
    ((document,), drops) = read(tmp_path, "tr")
    assert document.split == "validation"
    assert len(document.sections[0].paragraphs[0]) == 3
    assert "boilerplate" not in drops


@pytest.mark.parametrize(("language", "code"), [("es", "es"), ("tr", "tu"), ("fr", "fr")])
def test_sources(language: str, code: str) -> None:
    found = sources.list_sources(corpus(language))
    assert [s.file for s in found] == [f"{code}_{part}.jsonl" for part in FILES]
    assert all(s.sha256 and s.size and s.urls[0].endswith(f"/MLSUM/{s.file}") for s in found)
    # Spanish is packed.
    packed = [f"{code}_{part}.zip" for part in FILES] if language == "es" else []
    assert [s.packed.file for s in found if s.packed] == packed
    assert all(s.packed.sha256 and s.packed.urls for s in found if s.packed)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("El niÃ±o vino.", "mojibake"),
        ("El <b>niño</b> vino.", "markup_left"),
        ("Un niño &amp; otro vino.", "markup_left"),
        ("1.200.", "no_letters"),
        *((rule["example"], rule["name"]) for rule in RULES["sentences"]),
    ],
)
def test_a_dropped_sentence_ends_the_section(tmp_path: Path, sentence: str, reason: str) -> None:
    sections, drops = body(tmp_path, f"El puerto cerrará. {sentence} Abrirá en mayo.")
    assert sections == [["El puerto cerrará."], ["Abrirá en mayo."]]
    assert drops["sentences"] == {"seen": 3, "kept": 2, "dropped": {reason: 1}}


def test_a_fragment_at_the_beginning(tmp_path: Path) -> None:
    sections, drops = body(tmp_path, "que cerrará hoy. Abrirá en mayo.")
    assert sections == [[], ["Abrirá en mayo."]]
    assert drops["sentences"]["dropped"] == {"fragment": 1}


@pytest.mark.parametrize("rule", RULES["first_sentences"], ids=lambda rule: rule["name"])
def test_first_sentences(tmp_path: Path, rule: dict[str, str]) -> None:
    sections, drops = body(tmp_path, f"{rule['example']} El puerto abrirá.")
    assert sections == [[], ["El puerto abrirá."]]
    assert drops["sentences"]["dropped"] == {rule["name"]: 1}
    sections, _ = body(tmp_path, f"El puerto abrirá. {rule['example']}")
    assert sections == [["El puerto abrirá.", rule["example"]]]


def test_a_quotation_set_apart(tmp_path: Path) -> None:
    quotation = "Nadie en el puerto de la ciudad sabe cuándo volverán los barcos"
    text = f"Abrirá en mayo. {quotation} Ana Ruiz calla. {quotation}. {quotation}. Fin."
    sections, drops = body(tmp_path, text)
    assert sections == [["Abrirá en mayo."], [f"{quotation}."], ["Fin."]]
    assert drops["sentences"]["dropped"] == {"repeated": 2}


@pytest.mark.parametrize("text", TABLES["titles"])
def test_titles_that_are_whole(tmp_path: Path, text: str) -> None:
    assert body(tmp_path, text)[0] == [[text]]


@pytest.mark.parametrize(("text", "reason"), TABLES["run_on"])
def test_headings_that_run_on(tmp_path: Path, text: str, reason: str) -> None:
    assert body(tmp_path, text)[1]["sentences"]["dropped"] == {reason: 1}


def test_bullets(tmp_path: Path) -> None:
    sections, _ = body(tmp_path, "- El puerto cerrará. • Abrirá. - 2,5 -")
    assert sections[0] == ["El puerto cerrará.", "Abrirá."]


@pytest.mark.parametrize("rule", RULES["boilerplate"], ids=lambda rule: rule["name"])
def test_each_on_its_example(tmp_path: Path, rule: dict[str, str]) -> None:
    sections, drops = body(tmp_path, rule["example"])
    parts = [rule["leaves"]] if rule.get("cut") == "inline" else rule["leaves"].split(" | ")
    assert [" ".join(section) for section in sections] == parts
    assert drops["boilerplate"]["dropped"][rule["name"]] >= 1
    assert drops["boilerplate"]["kept"] == 0


@pytest.mark.parametrize("text", TABLES["no_text"])
def test_text_that_is_none(tmp_path: Path, text: str) -> None:
    sections, drops = body(tmp_path, text)
    assert " ".join(s for section in sections for s in section) == text
    assert "boilerplate" not in drops


def test_at_the_edges_no_section_begins(tmp_path: Path) -> None:
    follow = "Puedes seguir a EL PAÍS en Twitter."
    sections, drops = body(tmp_path, f"{follow} El puerto cerrará. Abrirá en mayo. {follow}")
    assert sections == [["El puerto cerrará.", "Abrirá en mayo."]]
    assert drops["boilerplate"] == {"seen": 2, "kept": 0, "dropped": {"follow": 2}}


def test_inside_a_section_ends(tmp_path: Path) -> None:
    follow = "PUEDES SEGUIR A EL PAÍS EN FACEBOOK Y TWITTER."
    sections, _ = body(tmp_path, f"El puerto cerrará. {follow} Abrirá en mayo.")
    assert sections == [["El puerto cerrará."], ["Abrirá en mayo."]]


@pytest.mark.parametrize("entry", RULES["captions"], ids=lambda entry: entry["example"][-60:])
def test_captions_each_on_its_example(tmp_path: Path, entry: dict[str, str]) -> None:
    sections, drops = body(tmp_path, entry["example"])
    assert sections == [[entry["leaves"]]]
    assert drops["boilerplate"]["dropped"] == {"caption": 1}


@pytest.mark.parametrize("credit", TABLES["credits"])
@pytest.mark.parametrize("text", ["PSOE y PP cerrarán el puerto.", "“¿Cuándo?”, dijo."])
def test_credits(credit: str, text: str) -> None:
    caption = f"El alcalde, en el pleno. {credit} "
    end = find_caption(caption + text, RULES["agencies"], RULES["broadcasters"])
    assert end == len(caption)


@pytest.mark.parametrize("text", TABLES["captions"])
def test_text_without_caption(text: str) -> None:
    assert find_caption(text, RULES["agencies"], RULES["broadcasters"]) == 0


def test_a_caption_whose_end_nothing_shows(tmp_path: Path) -> None:
    text = "Un barco. En vídeo, el puerto. Ana Ruiz Nadie lo espera. Abrirá en mayo. Así es."
    sections, drops = body(tmp_path, text)
    assert sections == [[], ["Abrirá en mayo.", "Así es."]]
    assert drops["boilerplate"]["dropped"] == {"caption_without_end": 1}
    assert drops["sentences"] == {"seen": 3, "kept": 2, "dropped": {"glued_to_cut": 1}}


@pytest.mark.parametrize(("sentence", "kept"), TABLES["after"])
def test_the_sentence_after_it(tmp_path: Path, sentence: str, kept: bool) -> None:
    sections, drops = body(tmp_path, f"Un barco. En vídeo, el puerto. {sentence} Así es.")
    assert sections == ([[sentence, "Así es."]] if kept else [[], ["Así es."]])
    assert drops["sentences"]["kept"] == 1 + kept


@pytest.mark.parametrize("unit", ["|", "A|", "A ", "A B | ", "AB ", "/", "EFE ", "(EFE) "])
def test_a_text_with_no_end_of_a_caption_takes_no_time(unit: str) -> None:
    start = time.process_time()
    find_caption((unit * 10_000).strip(), RULES["agencies"], RULES["broadcasters"])
    assert time.process_time() - start < 1


def test_a_photo_inside_the_text(tmp_path: Path) -> None:
    text = "El puerto cerrará. ampliar foto Un barco. ANA RUIZ Abrirá. ampliar foto Otro. Fin."
    sections, drops = body(tmp_path, text)
    assert sections == [["El puerto cerrará."], ["Abrirá."], ["Fin."]]
    assert drops["boilerplate"]["dropped"] == {"caption": 1, "photo": 2}


@given(st.text(st.sampled_from("aA(/|). :EFE“1"), max_size=60))
def test_any_text(text: str) -> None:
    text = " ".join(text.split())
    end = find_caption(text, RULES["agencies"], RULES["broadcasters"])
    assert end == ENDLESS or 0 <= end <= len(text)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        *((rule["example"], rule["leaves"].split(" | ")) for rule in RULES["subhead_breaks"]),
        (" ", []),
        ("Cierra el puerto. Abrirá en mayo", ["Cierra el puerto.", "Abrirá en mayo."]),
        ('Pide que "cierre el puerto"', ['Pide que "cierre el puerto".']),
        ("“Cerrará”, dijo. “¡Hoy!”", ["“Cerrará”, dijo.", "“¡Hoy!”"]),
        ("- El puerto cierra - Abrirá en mayo,", ["El puerto cierra.", "Abrirá en mayo."]),
        ("El alcalde - ayer, en Cádiz - calla", ["El alcalde - ayer, en Cádiz - calla."]),
        (
            "Pide más vigilanciaVecinos del puerto callan",
            ["Pide más vigilancia.", "Vecinos del puerto callan."],
        ),
        ("Gana la final de MasterChef hoy", ["Gana la final de MasterChef hoy."]),
        ("El puerto. Puedes seguir a EL PAÍS en Twitter", ["El puerto."]),
        ("El río gana a CiU.. Hoy corre 9 m..", ["El río gana a CiU.", "Hoy corre 9 m."]),
        ('El puerto, "cerrado ". Vuelve tío "', ['El puerto, "cerrado".', 'Vuelve tío".']),
        ("[El puerto cierra. Abrirá en mayo", ["Abrirá en mayo."]),
    ],
)
def test_sentences_of_a_subhead(tmp_path: Path, text: str, sentences: list[str]) -> None:
    assert subhead(tmp_path, text) == sentences


@pytest.mark.parametrize("rule", RULES["subhead_sentences"], ids=lambda rule: rule["name"])
def test_sentences_that_are_dropped(tmp_path: Path, rule: dict[str, str]) -> None:
    summary = f"{rule['example']} Abre el CosmoCaixa"
    ((document,), drops) = read(write(tmp_path, {**GOOD, "summary": summary}))
    assert document.summary == ["Abre el CosmoCaixa."]
    assert drops["summary_sentences"] == {"seen": 2, "kept": 1, "dropped": {rule["name"]: 1}}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "one JSON object"),
        ("version https://git-lfs.github.com/spec/v1", "remove the file"),
        (json.dumps(GOOD)[:80], "one JSON object"),
        ([], "an object with the keys text, summary, url, title, topic"),
        ({k: v for k, v in GOOD.items() if k != "summary"}, "the key summary"),
        ({}, "only an empty object"),
        ({**GOOD, "text": 7}, "text, a string"),
        ({**GOOD, "url": " "}, "the url of the item"),
        (json.dumps(GOOD).replace("El puerto cierra", "\\ud83d"), "half a character"),
    ],
)
def test_bad_lines(tmp_path: Path, row: Any, message: str) -> None:
    write(tmp_path, GOOD, "", row)
    with refused("es_train.jsonl, line 3", message, "fetch --only mlsum"):
        read(tmp_path)


def test_one_file_is_missing(tmp_path: Path) -> None:
    (write(tmp_path, GOOD) / "es_train.jsonl").rename(tmp_path / "x")
    (tmp_path / "es_val.jsonl").write_text("")
    with refused("", "es_train.jsonl, es_val.jsonl missing or empty"):
        recipe.blocks(tmp_path, corpus())
