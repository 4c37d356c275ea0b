"""Tests of corpora_recipes/wikipedia/{wikitext,templates,prose}.py: wikitext to whole sentences."""

import re
import sys

import pytest
from case_tables import read_tables
from dump_writer import NAMESPACES
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpora_recipes.corpora.wikipedia import prose
from corpora_recipes.corpora.wikipedia.recipe import sections_of
from corpora_recipes.corpora.wikipedia.templates import MARKS, format_number, load_wiki
from corpora_recipes.corpora.wikipedia.wikitext import Article, Parser
from corpora_recipes.records import Drops
from corpora_recipes.text.cleaning import clean, find_damage
from corpora_recipes.text.sentences import split_sentences
from corpora_recipes.text.tidying import tidy

TABLES = read_tables(__file__)

LANGUAGES = ("es", "en", "fr", "pt", "de", "it", "ca", "gl", "eu", "ast", "an")
PARSERS = {code: Parser(code, tuple(NAMESPACES.items())) for code in LANGUAGES}
# What no sentence may hold.
LEFTOVER = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||''|==|https?://|formula_\d|</?[a-z]|style=|[﷐-﷯]")


def parse(text: str, language: str = "es", title: str = "Título") -> Article:
    return PARSERS[language].parse(title, text)


def read(text: str, language: str = "es", title: str = "Título") -> tuple[list[list[str]], Drops]:
    """Return the paragraphs of a page, and the counts."""
    drops = Drops()
    sections = next(sections_of([parse(text, language, title)], language, drops))
    return [list(p) for section in sections for p in section.paragraphs], drops


def only_sentence(text: str, language: str = "es", title: str = "Título") -> str:
    """Return the only sentence, or "" if there is none, or "(reason)" if it was dropped."""
    runs, drops = read(text, language, title)
    kept = [sentence for run in runs for sentence in run]
    dropped = drops.dropped.elements()
    reasons = [f"({reason})" for unit, reason in dropped if unit == "sentences"]
    assert len(kept) <= 1, (kept, reasons)
    return "".join(kept + reasons)


# Template in a sentence, to the sentence that a reader sees.
SPANISH = [
    ("Nació el {{fecha|11|4|1973}}.", "Nació el 11 de abril de 1973."),
    ("Nació el {{Fecha|1|enero|1973}}.", "Nació el 1 de enero de 1973."),
    ("Nació el {{Fecha|1|enero|1973|edad}}.", "(unrendered_template)"),
    ("Se fundó en {{fecha||8|1990}}.", "Se fundó en agosto de 1990."),
    ("Se fundó en {{fecha|||}}.", "(unrendered_template)"),
    ("Se estrenó el {{start date|2002|5|3}}.", "Se estrenó el 3 de mayo de 2002."),
    ("Se estrenó el {{fecha|mañana}}.", "(unrendered_template)"),
    (f"Se estrenó el {{{{fecha|{'1' * 5000}|1|2000}}}}.", "(unrendered_template)"),
    ("Mide {{unidad|458|km²}} de largo.", "Mide 458 km² de largo."),
    ("Mide {{unidad|1234567.5|m|2}} hoy.", "Mide 1 234 567,5 m² hoy."),
    ("Mide {{unidad|2500|m|-1}} hoy.", "Mide 2500 m⁻¹ hoy."),
    ("Viven {{formatnum:4478102 personas}} hoy.", "Viven 4 478 102 personas hoy."),
    ("Mide {{convertir|14|cm|in|0}} de alto.", "Mide 14 cm de alto."),
    ("Mide {{convertir|10|a|2000|km|mi}} de alto.", "Mide 10 a 2000 km de alto."),
    ("Es del {{siglo|XIX||s}} tardío.", "Es del siglo XIX tardío."),
    ("{{Siglo|V|a|S}} en Roma.", "Siglo V a. C. en Roma."),
    ("Creció un {{esd|52,8 %}} ayer.", "Creció un 52,8 % ayer."),
    ("Hacia el año 300 a.{{esd}}C. murió.", "Hacia el año 300 a. C. murió."),
    ("Murió en el {{ac|44}} o antes.", "Murió en el 44 a. C. o antes."),
    ("La ''{{lang|en|Tengo ganas}}'' fue así.", "La Tengo ganas fue así."),
    ("Roma ({{lang-it|Roma}}) es así.", "Roma (en italiano, Roma) es así."),
    ("Roma ({{lang-xyz|Roma}}) es así.", "(unrendered_template)"),
    ("El {{nihongo|go|囲碁|igo}} es un juego.", "El go (囲碁, igo) es un juego."),
    ("Es {{nowrap|12 km}} al sur.", "Es 12 km al sur."),
    ("Es {{small|muy}} {{versalita|alto}}.", "Es muy alto."),
    ("Es {{abreviatura|km|kilómetro}} y {{abbr|m|metro}}.", "Es km y m."),
    ("Tiene {{formatnum:4553.25}} votos.", "Tiene 4553,25 votos."),
    ("Es {{color|red|roja}} siempre.", "Es roja siempre."),
    ("El {{enlace idioma|en|Target|blanco}} es fijo.", "El blanco es fijo."),
    ("El {{ill|blanco|en|Target|lt=punto}} es fijo.", "El punto es fijo."),
    ("Ganó {{bandera|España}} Ana Ruiz.", "Ganó Ana Ruiz."),
    ("Ganó {{bandera2|España}} el oro.", "(unrendered_template)"),
    ("Ganó {{ESP}} el oro.", "Ganó España el oro."),
    ("Tiene 10{{exp|6}} bits.", "Tiene 10⁶ bits."),
    ("Es cierto.{{cita requerida|{{CURRENTMONTHNAME}}}}", "Es cierto."),
    ("Es cierto{{Cita requerida}}.", "Es cierto."),
    ("Es cierto.{{refn|Nota {{fecha|1|1|2000}}.}}", "Es cierto."),
    ("Es cierto.{{#tag:ref|Nota.}}", "Es cierto."),
    ("{{AP|Otra página}}\nEs cierto.", "Es cierto."),
    ("{{NOMBREDEPÁGINA}} es un libro.", "Título es un libro."),
    ("{{ORDENAR:Libro}}Es un libro.{{DEFAULTSORT:Libro}}", "Es un libro."),
    ("Es {{#if:x|alto|bajo}} hoy.", "Es alto hoy."),
    ("Es {{#if: |alto|bajo}} hoy.", "Es bajo hoy."),
    ("Es {{uc:ong}} y {{lc:ONU}}.", "Es ONG y onu."),
    ("Es {{plantilla:nowrap|a b}} hoy.", "Es a b hoy."),
    ("Es {{#switch:a|a=1|b=2}} hoy.", "(unrendered_template)"),
    ("Es {{nowrap|{{esbelto}} y}} hoy.", "(unrendered_template)"),
    ("Es {{nowrap}} hoy.", "(unrendered_template)"),
    ("Mide {{unidad|9.8|m||s|-2}} hoy.", "(unrendered_template)"),
    ("Mide {{convertir|13+7/8|in}} hoy.", "Mide 13 7/8 in hoy."),
    ("Mide {{convertir|6|to(-)|7|cm|in}} hoy.", "Mide 6 to 7 cm hoy."),
    ("Mide {{convertir|2|x|3|x|4|m}} hoy.", "(unrendered_template)"),
    ("Mide {{frac|3|1|2}} y {{frac|1|2}} hoy.", "Mide 3 1/2 y 1/2 hoy."),
    ("Del siglo {{siglo|IV|e}} en Roma.", "(unrendered_template)"),
    ("Según {{harvtxt|Ruiz|1979|p=86}}, es así.", "Según Ruiz (1979, p. 86), es así."),
    ("Según {{harvtxt|Ruiz|Paz|1979}}, es así.", "(unrendered_template)"),
    ("Escribió {{cita libro|título=Uno}} ayer.", "(unrendered_template)"),
    ("Es {{sic|vurro}} hoy.", "Es vurro [sic] hoy."),
    ("Es {{sic|vurro|hide=y}} hoy.", "Es vurro hoy."),
    ("Es así {{aclarar}} hoy.", "Es así hoy."),
    ("Es {{aclarar|así}} hoy.", "(unrendered_template)"),
    ("{{-}}Es así.", "Es así."),
    ("El l{{'}}''ora'' y la '''luz''' son.", "El l'ora y la luz son."),
    ("Es {{{1}}} hoy.", "(unrendered_template)"),
    ("Es {{{1|alto}}} hoy.", "Es alto hoy."),
    ("Berlín (pronunciado {{AFI|bɛɐ̯ˈliːn}}) es así.", "Berlín es así."),
    ("Berlín ({{IPA|x}}; 1237) es así.", "Berlín (1237) es así."),
    ("Berlín (antes, Cölln, {{audio|x.ogg|escuchar}}) es así.", "Berlín (antes, Cölln) es así."),
    ("Berlín ({{IPA|x}};<ref>a</ref> [[Roma]]) es así.", "Berlín (Roma) es así."),
    ("Berlín ({{coord|1|2|N|3|4|W}}) es así.", "Berlín es así."),
    ("Suena {{AFI|x}} siempre.", "(unrendered_template)"),
]


MARKUP = [
    ("El [[gato]] y los [[perro]]s duermen.", "El gato y los perros duermen."),
    ("El [[Mercurio (planeta)|]] gira.", "El Mercurio gira."),
    ("La [[:Categoría:Gatos]] existe.", "La Categoría:Gatos existe."),
    ("El [[Anexo:Glosario|glosario]] existe.", "El glosario existe."),
    ("El [[w:es:Auschwitz|campo]] existe.", "El campo existe."),
    ("Vio [[CSI: Miami]] entera.", "Vio CSI: Miami entera."),
    ("Duerme.\n[[en:Cat]]\n[[de:Katze]]", "Duerme."),
    ("El [[en:Cat|gato]] duerme.", "(unrendered_template)"),
    ("[[Archivo:A.jpg|thumb|Un [[gato]] en [[casa|su casa]].]] El gato duerme.", "El gato duerme."),
    ("Dice [[Medio:A.ogg|{{AFI|x}}]] en Perú.", "(unrendered_template)"),
    ("Lima ([[Media:A.ogg|escuchar]]) es así.", "Lima es así."),
    ("El signo [[Archivo:A.svg|20px]] significa eso.", "(unrendered_template)"),
    ("Es así.\n{{caja|\n{| x\n| y\n|}}}\n", "Es así."),
    ("El ''gato'' '''negro''' y '''''gordo''''' duerme.", "El gato negro y gordo duerme."),
    ("L'''Avenir'' es un diario.", "L'Avenir es un diario."),
    ("Es l''''ora''' justa.", "Es l'ora justa."),
    ("Vea [http://a.org/x?y=1 su página] ahora.", "Vea su página ahora."),
    ("Vea [//a.org la «[[gran]]» página] ahora.", "Vea la «gran» página ahora."),
    ("Duerme.[http://a.org]", "Duerme."),
    ("Vea http://a.org/x ahora.", "(markup_left)"),
    ('El gato<ref>Nota. [[X]]</ref> duerme<ref name="a" />.', "El gato duerme."),
    ("El gato <ref name=a>{{cita web|x=}}</ref>, dice, duerme.", "El gato, dice, duerme."),
    ("El gato duerme.<ref>nota</ref>.", "El gato duerme."),
    ("El gato\n<!-- sola -->\nduerme.", "El gato duerme."),
    ("El gato duerme.<!-- sin fin\n\nNada más.", "El gato duerme."),
    ("El gato duerme.<ref>Sin fin.", "(unrendered_template)"),
    ("El gato duerme.</ref>", "(markup_left)"),
    ("<br />El gato duerme.", "El gato duerme."),
    ("El gato&nbsp;duerme &laquo;bien&raquo; &#40;hoy&#x29;.", "El gato duerme «bien» (hoy)."),
    ("El\u2009gato\u202fdu\u00ader\u200bme.", "El gato duerme."),
    ("El cafe\u0301 es bueno.", "El café es bueno."),
    ("Mide 5&nbsp;m<sup>2</sup> y CO<sub>2</sub>.", "Mide 5 m² y CO₂."),
    (
        "Son 10<sup>-6</sup> g de n.<sup>o</sup> 1.<sup>a</sup> clase.",
        "Son 10⁻⁶ g de n.º 1.ª clase.",
    ),
    ("Es 2<sup>k+x</sup> hoy.", "(formula)"),
    ("Es <math>x^2</math> hoy.", "(formula)"),
    ('Es <small>muy</small> <span style="color:red">alto</span>.', "Es muy alto."),
    ("Es <q>muy</q> alto.<br />", 'Es "muy" alto.'),
    ("Es <nowiki>alto</nowiki> hoy.<nowiki/>", "Es alto hoy."),
    ("Es <nowiki>[[alto]]</nowiki> hoy.", "(markup_left)"),
    ("Es <code>alto</code> <blink>hoy</blink>.", "(markup_left)"),
    ("Es __NOTOC__ alto. __SIN_TDC__", "Es alto."),
    ("Es -{alto}- hoy.", "Es alto hoy."),
    ("<div align=center>\nEs alto.\n</div>", "Es alto."),
    ("Vivió en el , y murió.", "(hole)"),
    ("Usa el fichero .txt siempre.", "Usa el fichero .txt siempre."),
    ("Es 1 < 2 y 3 > 2 hoy.", "Es 1 < 2 y 3 > 2 hoy."),
    ("Son muchos (>80 %) hoy.", "Son muchos (>80 %) hoy."),
    ("Es &#" + "1" * 5_000 + "; hoy.", "(replacement_character)"),
    ("Vea [[http://a.org/x su página]] hoy.", "Vea [su página] hoy."),
    ("Nació (, 1900) en Roma.", "(hole)"),
    ('Nació en "" ayer.', "(hole)"),
    ("Tiene una población de.", "(hole)"),
    ("Usa main() y el dominio (.ar) (…) siempre.", "Usa main() y el dominio (.ar) (…) siempre."),
    ("Nació (en Roma ayer.", "(broken_parenthesis)"),
    ("Nació (en Roma]) ayer.", "(broken_parenthesis)"),
    ("• Una lista sin marcas.\n· Otra.", ""),
    ("Son a) uno y b) dos.", "Son a) uno y b) dos."),
    ("Los barrios son:", "(unfinished)"),
    ("'''Temporada 2004'''", "(unfinished)"),
    ("donde v es la velocidad.", "(unfinished)"),
    ("iPhone es un teléfono.", "iPhone es un teléfono."),
    ("Es �alto hoy.", "(replacement_character)"),
    ("Es \ufdd0alto\ufdd2 hoy.", "(replacement_character)"),
    ("El gato [[duerme hoy.", "(markup_left)"),
    ("El conjunto {1, 2} es así.", "(markup_left)"),
    ("palabra " * 8_000 + ".", "(overlong)"),
    # As it was written: without the spaces before commas it would be short enough.
    ("palabra , " * 5_001 + "fin.", "(overlong)"),
]


@pytest.mark.parametrize(
    ("language", "text", "sentence"),
    [
        *(("es", *row) for row in SPANISH + MARKUP),
        ("en", "He is {{convert|6|ft|2|in}} tall.", "He is 6 ft 2 in tall."),
        ("en", "Born {{birth date|1900|1|2}} there.", "Born January 2, 1900 there."),
        ("en", "It is true.{{citation needed|date=May 2020}}", "It is true."),
        ("en", "It has ten {{as of|2020|lc=y}}.", "It has ten as of 2020."),
        ("en", "{{As of|2020|5}} it has ten.", "As of May 2020 it has ten."),
        ("en", "It is {{convert|22|to|25|C|F}} warm.", "It is 22 to 25 °C warm."),
        ("en", "It has {{convert|25000|sqft|m2}} inside.", "It has 25,000 sq ft inside."),
        ("en", "The years 1417{{ndash}}1701 passed.", "The years 1417–1701 passed."),
        ("en", "Berlin ({{langx|de|Berlin}}) is big.", "Berlin (German: Berlin) is big."),
        ("fr", "Le {{date|14|juillet|1789}} arrive.", "Le 14 juillet 1789 arrive."),
        ("fr", "Il mesure {{unité|98765|km|2}} ici.", "Il mesure 98 765 km² ici."),
        ("fr", "Au {{s-|I|er}} il vit.", "Au Ier siècle il vit."),
        ("fr", "Aux {{s2|XV|e|XVI|e}} il vit.", "Aux XVe et XVIe siècles il vit."),
        ("fr", "Le {{date|29 9 2019}} arrive.", "Le 29 septembre 2019 arrive."),
        ("fr", "Le {{date|29 9 ou 10}} arrive.", "Le 29 9 ou 10 arrive."),
        ("fr", "Il naît le {{date|1|mai|1900}} ici.", "Il naît le 1er mai 1900 ici."),
        ("fr", "Il naît en {{date||mai|1900}} ici.", "Il naît en mai 1900 ici."),
        ("fr", "Il va à {{unité|90|km||h|-1}} ici.", "(unrendered_template)"),
        ("fr", "Le roi Paul {{Ier}} vit ici.", "Le roi Paul Ier vit ici."),
        ("fr", "Au {{IIIe siècle av. J.-C.}} il vit.", "Au IIIe siècle av. J.-C. il vit."),
        ("fr", "Au {{-s|V|e}} il vit.", "Au Ve siècle av. J.-C. il vit."),
        ("fr", "Du {{sp|XV|e|au|XVI|e}} il vit.", "Du XVe au XVIe siècle il vit."),
        ("fr", "La mer ({{lang-la|mare}}) est là.", "La mer (en latin : mare) est là."),
        ("fr", "{{CLEFDETRI:Mer}}La {{langue|la|mare}} est là.", "La mare est là."),
        ("fr", "La {{Modèle:nobr|mer}} est là{{référence souhaitée}}.", "La mer est là."),
        ("fr", "Il est {{référence nécessaire|grand|date=mai}} ici.", "Il est grand ici."),
        ("it", "È {{senza fonte|la più grande}} qui.", "È la più grande qui."),
        ("ca", "Fou del {{segle|V|aC}} i prou.", "Fou del segle V aC i prou."),
        ("pt", "É do {{séc|XIX}} final.", "É do século XIX final."),
        ("ca", "Fou el {{data|1990|4|2}} aquí.", "Fou el 2 d'abril de 1990 aquí."),
        ("pt", "São {{fmtn|12345|km}} ao sul.", "São 12 345 km ao sul."),
        ("pt", "Nasceu a {{dni|3|2|1950}} ali.", "(unrendered_template)"),
        ("pt", "Nasceu a {{data|3|2|1950}} ali.", "Nasceu a 3 de fevereiro de 1950 ali."),
        ("pt", "Roma ({{langx|it|Roma}}) é antiga.", "Roma (em italiano: Roma) é antiga."),
        ("pt", "O {{Predefinição:nobr|rio}} é fundo{{carece de fontes}}.", "O rio é fundo."),
        ("pt", "Tem {{unidade|1234.5|km}} de margem.", "Tem 1234,5 km de margem."),
        ("gl", "Chámase {{Dic|ribeiro}} hoxe.", "Chámase ribeiro hoxe."),
        ("ast", "Foi'l {{fecha|2|10|1990}} equí.", "Foi'l 2 d'ochobre de 1990 equí."),
        ("ast", "El ríu{{cartafueyu|ríos}} ye fondu.", "El ríu ye fondu."),
        ("de", "{{SORTIERUNG:Ort}}{{SEITENNAME}} ist alt.", "Título ist alt."),
        ("it", "Nacque il {{data|1|5|1900}} qui.", "Nacque il 1º maggio 1900 qui."),
        ("eu", "{{Txantiloi:nowrap|Ibaia}} handia da.", "Ibaia handia da."),
        ("de", "Der Ort ({{enS|place}}) ist alt.", "Der Ort (englisch place) ist alt."),
    ],
)
def test_templates_and_markup(language: str, text: str, sentence: str) -> None:
    assert only_sentence(text, language) == sentence


# What a reader sees is in the sentence, or the sentence is dropped.
SHOWN = TABLES["shown"]


@pytest.mark.parametrize(("text", "sentence"), SHOWN)
def test_what_a_reader_sees_is_shown_or_the_sentence_is_dropped(text: str, sentence: str) -> None:
    assert only_sentence(text) == sentence


@pytest.mark.parametrize(("language", "text", "sentence"), TABLES["seen_by_readers"])
def test_templates_show_all_that_readers_see(language: str, text: str, sentence: str) -> None:
    assert only_sentence(text, language) == sentence


def test_a_language_without_tables_has_what_all_share() -> None:
    wiki = load_wiki("xx")
    assert wiki.rules["nowrap"] == ("show", "{1}")
    assert format_number("12345", wiki) == "12,345"


PAGE = TABLES["page"]


def test_a_page() -> None:
    article = parse(PAGE)
    drops = Drops()
    found = [(s.heading, s.level, s.paragraphs) for s in next(sections_of([article], "es", drops))]
    assert found == [
        ("", 1, [["Villa es una ciudad antigua."]]),
        ("", 1, [["Tiene un río.", "Sigue aquí.", "Y acaba aquí."]]),
        ("Historia", 2, [["Fue fundada ayer."], ["Creció mucho."]]),
        ("El siglo siglo XX", 3, [["Duró cien años."]]),
    ]
    assert article.topics == ["Ciudades de Chile", "Villas"]
    assert not article.disambiguation
    assert drops.seen["sentences"] == 9
    assert drops.dropped == {
        ("sentences", "unrendered_template"): 1,
        ("sentences", "unfinished"): 1,
        ("lines", "table"): 7,
        ("lines", "list"): 4,
        ("lines", "preformatted"): 1,
        ("lines", "blockquote"): 1,
        ("lines", "box"): 1,
        ("lines", "poem"): 3,
        ("lines", "gallery"): 3,
        ("lines", "center"): 1,
    }
    assert drops.seen["lines"] == 21


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        # Spaces open preformatted text, but not after something removed.
        (" Código aquí.\n\n{{cr}} Texto aquí.", [["Texto aquí."]]),
        ("Uno es\nasí. Dos\n\nTres es así.", [["Uno es así."], ["Tres es así."]]),
        ("Uno es así.<br><br/>Dos es así.", [["Uno es así."], ["Dos es así."]]),
        ("Uno es así.<br>Dos es así.", [["Uno es así.", "Dos es así."]]),
        # What is never closed ends at the next heading, items outside a list at the end of a line.
        *(
            (f"Es así.\n{opening}\nNo es prosa.\n== B ==\nVa así.", [["Es así."], ["Va así."]])
            for opening in ("{| class=x\n| celda", "<center>", "<blockquote>", "<ul><li>x")
        ),
        *(
            (f"Es así.\n{opening}\nSí es <b>prosa</b>.", [["Es así."], ["Sí es prosa."]])
            for opening in ("<li>x", "<li>x<b>y</b><li>z", "<dd>x")
        ),
        # A reference hid that a blank was missing.
        ("Uno es así.<ref>x</ref>Dos es así.", [["Uno es así.", "Dos es así."]]),
    ],
)
def test_paragraphs(text: str, paragraphs: list[list[str]]) -> None:
    assert read(text)[0] == paragraphs


@pytest.mark.parametrize(("language", "text"), TABLES["disambiguation"])
def test_disambiguation(language: str, text: str) -> None:
    assert parse(f"'''Luna''' puede ser:\n* [[Luna]].\n{text}", language).disambiguation
    assert not parse(f"Luna.<!-- {text} --><nowiki>{text}</nowiki>", language).disambiguation
    assert not parse("{{otros usos|Luna (desambiguación)}}\nLa Luna gira.").disambiguation


def test_a_framed_image_is_no_sign_of_the_sentence() -> None:
    options = {"es": "der", "en": "right", "fr": "droite", "pt": "direita", "de": "rechts"}
    for language, option in options.items():
        assert PARSERS[language].wiki.framed.search(f"|20px|{option}|x")
        assert not PARSERS[language].wiki.framed.search("|20px|alt=x")


ADVERSARIAL = ["{{", "}}", "[[", "]]", "{|", "{{{", "}}}", "<ref>", "<ref", "<!--", "''", "'"]
ADVERSARIAL += ["<center>", "<sup>", "<sup>a</sub>", "<nowiki>", "<math>", "[http://a", "{{cita|"]
ADVERSARIAL += ["{{nowrap|", "[[a|", "[[Archivo:a|", "(", ")", "()", "=", "__", "__A", "-{", "&"]
ADVERSARIAL += ["&amp;", "&#", "{{!}}", "|", "a.", "¿", "«", "<br>", "<br", "</", "😀"]
ADVERSARIAL += ["{{lang|es|", "{{#if:|", "{{fecha|", "[[a]]", "{{a}}", "{{cr}}", "{{afi}}"]
ADVERSARIAL += ["({{afi}}", "<ref/>", "<gallery>", "</ref>", "https://", "-", ",", "[", "{", "<"]
ADVERSARIAL += ["*", "\n{|", "\n|}", "<ref ", "<!-- --> ", "\n<!-- -->", "[http://a ", "{{cita "]
ADVERSARIAL += ["\n==", "\n== a ==", "\n:", "\n ", " ", "\n", "A. ", '"', "<a ", "\xa0", "\ufdd0"]
ADVERSARIAL += ["{{cr}} "]


# Openings of several kinds, each inside the last one and none ever closed.
MIXTURES = [
    ("=" * 1_000 + "a",),
    ("=", "a"),
    ("{{Ficha|<!-- {{ -->a}}\n",),
    ("{{Ficha|<nowiki>{{</nowiki>}}",),
    ("{{a|", "[[a|"),
    ("{{a|", "[[a|", "<ref>{{"),
    ("<div>", "'''''", "(("),
    ("-{", "= ", "{{"),
    ("\n{|\n|", "{{", "[["),
    ("<blockquote>", "<ul><li>", "<center>"),
    ("{{{", "[[[", "{{"),
    ("<!--", "{{", "-->"),
    ("{{cita|", "[[Archivo:a|", "<ref name=a>"),
    ("«", "“a ", '"a ', "(a "),
    ("({{afi}}, ", "{{cr}}) "),
    ("a. A", "... ", '"a ', " ,"),
    ("de ", "de en ", "el , "),
]


PAIRS = [("{{", "}}"), ("[[", "]]"), ("{{nowrap|", "}}"), ("<div>", "</div>"), ("{{{", "}}}")]
PAIRS += [("\n{|", "\n|}"), ("<center>", "</center>")]


@pytest.mark.parametrize("token", ADVERSARIAL)
def test_much_of_anything_ends(token: str) -> None:
    # A quadratic step would take minutes; what comes out is only checked to be clean.
    check_that_it_ends(token * (150_000 // len(token)))


@pytest.mark.parametrize("tokens", MIXTURES)
def test_mixtures_end(tokens: tuple[str, ...]) -> None:
    in_turn = "".join(tokens)
    check_that_it_ends(in_turn * (80_000 // len(in_turn)))
    one_after_the_other = [token * (80_000 // len(tokens) // len(token)) for token in tokens]
    check_that_it_ends("".join(one_after_the_other) + "}}]]" * 10_000)
    # Just short of what is dropped as overlong: this goes through the sentence splitter.
    check_that_it_ends(f"Es {in_turn * (45_000 // len(in_turn))} así.")


@pytest.mark.parametrize("tokens", [*MIXTURES, *((token,) for token in ADVERSARIAL)])
def test_twice_the_page_takes_twice_the_calls(tokens: tuple[str, ...]) -> None:
    in_turn = "".join(tokens)
    paragraph = in_turn * (2_000 // len(in_turn)) + "\n\nEs así.\n\n"
    read(paragraph)  # what is only done once is done
    once, twice = calls(paragraph * 10), calls(paragraph * 20)
    assert twice <= 2.2 * once


def calls(text: str) -> int:
    """Return how many functions are called to read a page: the same number each time."""
    count = 0

    def step(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(step)
    try:
        read(text)
    finally:
        sys.setprofile(None)
    return count


def check_that_it_ends(text: str) -> None:
    runs, _ = read(text)
    assert not any(LEFTOVER.search(s) for run in runs for s in run)


@pytest.mark.parametrize("pair", PAIRS)
def test_deep_nesting_ends(pair: tuple[str, str]) -> None:
    check_that_it_ends(pair[0] * 40_000 + "Es así. " + pair[1] * 40_000)


PARTS = ["Es así. ", "La casa ", "es roja.", "\n\n", "1900", "{{siglo|XX||s}}", "</sup>"]
PARTS += ["</center>", "<ref>x</ref>", "<math>x</math>", "{{x\n|y}}", "|}}", "[[Categoría:X]]"]
PARTS += ["'''", "5"]
PARTS += ADVERSARIAL


@settings(max_examples=150)
@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PARTS), max_size=40).map("".join)))
@example("{{nowrap|[[a|b}}]]")
@example("[[Archivo:a|{{]]}}")
@example("{{fecha|²|1|1}}")
def test_any_text_goes_through_and_leaves_no_markup(text: str) -> None:
    article = parse(text)
    runs, drops = read(text)
    kept = [sentence for run in runs for sentence in run]
    assert all(runs)
    for sentence in kept:
        assert not LEFTOVER.search(sentence)
        assert not any(mark in sentence for mark in MARKS)
        assert sentence == " ".join(sentence.split())
        assert prose.fault(sentence, "es") is None
    assert drops.kept("sentences") == len(kept)
    assert drops.kept("lines") == 0
    assert len(set(article.topics)) == len(article.topics)
    assert not any(mark in topic for topic in article.topics for mark in MARKS)
    for block in article.blocks:
        assert not LEFTOVER.search(prose.heading(block.heading))


@pytest.mark.parametrize(
    ("line", "heading"), [("== {{algo}} A ''b'' <!-- c --> ==", "A b"), ("== A [[b ==", "")]
)
def test_a_heading_with_markup_left_is_empty(line: str, heading: str) -> None:
    (_, block) = parse(f"{line}\nEs así.").blocks
    assert prose.heading(block.heading) == heading


def test_categories_that_are_no_topics() -> None:
    # A template would complete its name, or it is not about the subject.
    assert parse("[[Categoría:Nacidos en {{año}}]][[Categoría:_A_b|c]]").topics == ["A b"]
    names = ["1861 births", "Living people", "All stub articles", "Articles with hCards"]
    names += ["Use dmy dates from May 2020", "All-female bands", "Births in fiction", "1861 ships"]
    text = "".join(f"[[Category:{name}]]" for name in names)
    assert Parser("en", ()).parse("", text).topics == names[-3:]


@pytest.mark.parametrize(("sentence", "reason"), TABLES["faults"])
def test_faults(sentence: str, reason: str | None) -> None:
    assert prose.fault(sentence, "es") == reason


def test_punctuation_is_put_in_order() -> None:
    drops = Drops()
    text = (
        '[1] Su canción," Roble ", gustó.[2] Nació en 20 a. C.. Vivió en la casa (azul ).'
        ' Murió " en el río.'
    )
    assert prose.sentences([text], "es", drops)[0] == [
        'Su canción, "Roble", gustó.',
        "Nació en 20 a. C.",
        "Vivió en la casa (azul).",
        None,
    ]
    assert drops.dropped == {("sentences", "broken_quotation"): 1}


PIECES = [*" .,;:!?…()[]«»“”\"'-–%&<>=/_#{}|~", *"aAéÉñßǅΩяⅣ²1", "de", "el siglo", "población"]
PIECES += [*MARKS, "www.", "del", "3,5", "Lima", " y ", " , ", "Lima. ", "fin.El ", "€", "Ã©"]
PIECES += [" de。"]


def passes(text: str, language: str) -> bool:
    return not (find_damage(text) or prose._match([text], prose._possible_faults(language))[0])


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12), st.sampled_from(["es", "fr"]))
def test_what_the_fast_search_passes_is_sound(pieces: list[str], language: str) -> None:
    text = clean("".join(pieces))
    if text and passes(text, language):
        assert not prose._is_suspect(text)
        assert not prose._has_hole(text, language)
        assert tidy(text, language) == text
        assert not any(prose._damage(sentence) for sentence in split_sentences(text, language))
    holes = load_wiki(language).holes
    if holes and not prose._match([text], load_wiki(language).possible_holes)[0]:
        assert not holes.search(text)


@settings(max_examples=200)
@given(st.lists(st.sampled_from([*PIECES, ". ", "Casa. ", "(a) "]), min_size=1, max_size=16))
def test_sentences_of_what_the_fast_search_passes_are_the_same(pieces: list[str]) -> None:
    text = clean("".join(pieces))
    if text and passes(text, "es"):
        fast, slow = Drops(), Drops()
        kept = prose._check_sentences(text, "es", fast, plain=True, holes=False)
        closed = prose._close_blanks(text, "es")
        assert kept == prose._check_sentences(closed, "es", slow, plain=False, holes=True)
        assert fast == slow


LUGO = TABLES["lugo"]


def test_the_lead_is_what_stands_before_the_first_heading() -> None:
    whole = parse(LUGO)
    lead = PARSERS["es"].parse("Lugo", LUGO, lead_only=True)
    assert [block.heading for block in whole.blocks] == ["", " Historia "]
    assert lead.blocks == whole.blocks[:1]
    assert lead.topics == whole.topics == ["Ciudades", "Lugo (ciudad)"]
    assert not lead.disambiguation

    text = "Es uno.\n\nEs {{fecha|1|2|1903}}. [[Categoría:A]]"
    assert PARSERS["es"].parse("Uno", text, lead_only=True) == parse(text)


@pytest.mark.parametrize("mark", ["{{desambiguación}}", "{{ Desambig|x}}", "{{DES\n|a}}"])
def test_the_mark_of_a_disambiguation_page_may_stand_after_the_lead(mark: str) -> None:
    text = f"Lugo es:\n== Lugares ==\n* Uno.\n{mark}"
    assert PARSERS["es"].parse("Lugo", text, lead_only=True).disambiguation
