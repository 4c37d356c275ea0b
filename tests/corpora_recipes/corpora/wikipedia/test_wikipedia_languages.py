"""Reads small dumps of the Portuguese and the French Wikipedia, where only `language` changes."""

from pathlib import Path

import pytest
from dump_writer import SamplePage, write_dump
from recipe_reading import read_all, recipe_corpus

from corpora_recipes.corpora.wikipedia import recipe

PORTUGUESE = {-2: "Multimédia", 0: "", 6: "Ficheiro", 10: "Predefinição", 14: "Categoria"}
PORTUGUESE[102] = "Anexo"
FRENCH = {-2: "Média", 0: "", 6: "Fichier", 10: "Modèle", 14: "Catégorie", 100: "Portail"}
PORTUGUESE_PAGES = [
    SamplePage(
        "Lara Moinho",
        "{{Info/Biografia|nome=Lara Moinho|imagem=[[Ficheiro:Lara.jpg|230px]]}}\n"
        "[[Ficheiro:Lara Moinho.jpg|miniaturadaimagem|direita|Lara em [[1930]].]]\n"
        "'''Lara Moinho''' (Vila Nova, {{dni|4|2|1901|lang=pt}} — Porto Largo, "
        "{{morte|9|11|1980}}) foi uma pintora.<ref>{{citar livro|título=Vida}}</ref> O nome vem do "
        "latim ({{lang-la|molinum}}). Pintou um mural de {{unidade|12.5|m}} no [[século XX|século]]"
        " passado{{carece de fontes|data=maio}}.\n\n"
        "== Obra ==\n{{Artigo principal|Obra de Lara Moinho}}\n"
        "Expôs no [[Anexo:Lista de museus|museu]] da vila. Vendeu {{fmtn|15000|quadros}}.\n"
        "* Uma lista.\n\n{{Referências}}\n{{esboço-pintor}}\n"
        "[[Categoria:Pintoras|Moinho]]\n[[category:Nascidos em 1901]]\n[[es:Lara Moinho]]",
        id=3,
    ),
    SamplePage("Moinho", "#REDIRECIONAMENTO [[Lara Moinho]]", id=4),
    SamplePage("Lara", "'''Lara''' pode ser:\n* [[Lara Moinho]].\n{{desambiguação}}", id=5),
    SamplePage("Mó", "'''Mó''' pode ser muita coisa.\n[[Categoria:Desambiguação]]", id=6),
    SamplePage("Categoria:Pintoras", "Pintoras de cá.", id=7, ns=14),
]
FRENCH_PAGES = [
    SamplePage(
        "Léa Moulin",
        "{{Infobox Artiste|nom=Léa Moulin|image=[[Fichier:Léa.jpg|230px]]}}\n"
        "[[Fichier:Léa Moulin.jpg|vignette|droite|Léa en [[1930]].]]\n"
        "'''Léa Moulin''', née le {{date de naissance|1|février|1901}} à Neuville et morte le "
        "{{date de décès|9|11|1980}}, est une peintre.<ref>{{Ouvrage|titre=Vie}}</ref> Son nom "
        "vient du latin ({{lang-la|molinum}}). Elle peint un mur de {{unité|12.5|m}} au "
        "{{s-|XX|e}}{{référence nécessaire|date=mai}}.\n\n"
        "== Œuvre ==\n{{Article détaillé|Œuvre de Léa Moulin}}\n"
        "Elle expose au [[Portail:Musées|musée]] du village : c'est « le moulin ». Elle vend "
        "{{nombre|15000|toiles}}.\n"
        "* Une liste.\n\n{{Références}}\n{{Portail|peinture}}\n"
        "[[Catégorie:Peintre|Moulin]]\n[[category:Naissance en 1901]]\n[[es:Léa Moulin]]",
        id=3,
    ),
    SamplePage("Moulin", "#REDIRECTION [[Léa Moulin]]", id=4),
    SamplePage("Léa", "'''Léa''' désigne :\n* [[Léa Moulin]].\n{{Homonymie}}", id=5),
    SamplePage("Meule", "'''Meule''' désigne bien des choses.\n[[Catégorie:Homonymie]]", id=6),
    SamplePage("Catégorie:Peintre", "Peintres d'ici.", id=7, ns=14),
]


PORTUGUESE_LEAD = [
    "Lara Moinho (Vila Nova, 4 de fevereiro de 1901 — Porto Largo, 9 de novembro de 1980) foi uma "
    "pintora.",
    "O nome vem do latim (em latim: molinum).",
    "Pintou um mural de 12,5 m no século passado.",
]
PORTUGUESE_SECTIONS = [
    ("", 1, [PORTUGUESE_LEAD]),
    ("Obra", 2, [["Expôs no museu da vila.", "Vendeu 15 000 quadros."]]),
]
FRENCH_LEAD = [
    "Léa Moulin, née le 1er février 1901 à Neuville et morte le 9 novembre 1980, est une peintre.",
    "Son nom vient du latin (en latin : molinum).",
    "Elle peint un mur de 12,5 m au XXe siècle.",
]
MUSEUM = "Elle expose au musée du village : c'est « le moulin »."
FRENCH_SECTIONS = [("", 1, [FRENCH_LEAD]), ("Œuvre", 2, [[MUSEUM, "Elle vend 15 000 toiles."]])]


@pytest.mark.parametrize(
    ("language", "namespaces", "pages", "topics", "sections"),
    [
        ("pt", PORTUGUESE, PORTUGUESE_PAGES, "Pintoras|Nascidos em 1901", PORTUGUESE_SECTIONS),
        ("fr", FRENCH, FRENCH_PAGES, "Peintre|Naissance en 1901", FRENCH_SECTIONS),
    ],
    ids=["pt", "fr"],
)
def test_the_language_is_all_that_changes(
    tmp_path: Path,
    language: str,
    namespaces: dict[int, str],
    pages: list[SamplePage],
    topics: str,
    sections: list[tuple[str, int, list[list[str]]]],
) -> None:
    name = f"{language}wiki-20260101-pages-articles-multistream.xml.bz2"
    write_dump(tmp_path / name, pages, wiki=f"{language}wiki", namespaces=namespaces)
    (document,), counts = read_all(recipe, tmp_path, recipe_corpus("wikipedia", language))
    assert (document.id, document.title) == ("3", pages[0].title)
    assert document.topics == topics.split("|")
    assert [(s.heading, s.level, s.paragraphs) for s in document.sections] == sections
    dropped = {"disambiguation": 2, "other_namespace": 1, "redirect": 1}
    assert counts == {
        "documents": {"seen": 5, "kept": 1, "dropped": dropped},
        "sentences": {"seen": 5, "kept": 5, "dropped": {}},
    }
