"""Speech and narration in Spanish prose: turns, their texts, and where a conversation ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.corpora.gutenberg.speech import (
    MAX_GAP,
    MAX_TURN_WORDS,
    Style,
    conversations,
    is_heading,
    join_lines,
    parse_turn,
)

STYLE = Style()
OPEN = Style(closing=False)
GLUED = Style(glued=True)


def turns(paragraph: str, style: Style = STYLE) -> list[str]:
    spoken = parse_turn(join_lines(paragraph.split("\n"), style), style)
    return [turn.text for turn in spoken.turns]


def texts(book: str, style: Style = STYLE) -> list[list[str]]:
    return [[turn.text for turn in found] for found in conversations(book, style)]


@pytest.mark.parametrize("dash", ["--", "—", "–", "― "])
def test_kinds_of_dashes(dash: str) -> None:
    assert turns(f"{dash}Ven {dash}dijo él{dash}. Te espero.") == ["Ven. Te espero."]


@pytest.mark.parametrize(
    ("paragraph", "speech"),
    [
        ("--Ven--dijo él--. Te espero.", "Ven. Te espero."),
        ("--¡Ah!--exclamó la tía, mordiéndose el labio. Otra pausa siguió.", "¡Ah!"),
        ("— Mal vamos —dijo Inés—: nadie ha venido.", "Mal vamos: nadie ha venido."),
        ("— Yo creo —dijo Inés— que nadie vendrá.", "Yo creo que nadie vendrá."),
        ("--¡Calla!--gritó ella--. ¿No oyes?", "¡Calla! ¿No oyes?"),
        ("--No pasará,--replicaba el guarda.", "No pasará."),
        ("--Aquí estoy--murmuró--, aquí--repitió--; abre.", "Aquí estoy, aquí; abre."),
        ("--¿Y la carta?--díjole el ama.", "¿Y la carta?"),
        ("--Toma--apuntando al plato.", "Toma."),
        ("--¡Basta!--con voz ronca.", "¡Basta!"),
        ("--Me alegro-repuso doña Paz--. Ya era hora.", "Me alegro. Ya era hora."),
        ("--Está bien.--Y salió.", "Está bien."),
        ("--No sé.--Don Luis contestó en voz baja.", "No sé."),
        ("--Mi primo--el alto--no vino.", "Mi primo—el alto—no vino."),
        ("--Eso costó (decía sin mirar) dos reales.", "Eso costó dos reales."),
        ("--Ven... (Con voz más baja.) Mira.", "Ven... Mira."),
        ("--Ni hablar... dijo.", "Ni hablar..."),
        ("--¡Sal!--gritó--; y volvió atrás, diciendo:", "¡Sal!"),
        ("--¡Sal, sal!--Y el cura añadió:", "¡Sal, sal!"),
        ("--«¿No eran parientes?».", "¿No eran parientes?"),
        ("«Eso no es nada--dijo el padre--: un rasguño.", "Eso no es nada: un rasguño."),
        ("--No, es algo más», repuso Luis con tristeza.", "No, es algo más"),
        ("--_Homo_ lo dijo[3] el #otro#.[A]", "Homo lo dijo el otro."),
        ("-- ... veremos.", "... veremos."),
        ("--¡ Qué calor !", "¡Qué calor!"),
        ("--¿No la oyes?...».", "¿No la oyes?..."),
        ("--Vecinos, amigos--pudo decir--si llueve...", "Vecinos, amigos, si llueve..."),
        ("--Sí--dijo Inés--la del molino.", "Sí, la del molino."),
        ("--Esta mula--dijo Inés--es ciega.", "Esta mula es ciega."),
        ("--Óyeme, Luis--dijo--¿vienes?", "Óyeme, Luis, ¿vienes?"),
        ("--¡Bah!--se ha reído Ana--. Ya vendrá.", "¡Bah! Ya vendrá."),
        ("--¡Al pozo! ¡Al pozo!», gritó el molinero.", "¡Al pozo! ¡Al pozo!"),
        ("--»El herrero.", "El herrero."),
        ("--Dicen que gritó: «--¡Agua!».", "Dicen que gritó: «¡Agua!»."),
        # The narrator's own aside, and a quotation in the narration.
        ("--Ya--dijo ella. Miró el reloj--parado, como siempre--y salió.", "Ya."),
        ("--Ya--decía. Guardó el pan. «Hay bodas--rezaba--. Dos.» Y volvió.", "Ya."),
        ("--Era del franco-\ntirador.", "Era del franco-tirador."),
    ],
)
def test_one_speaker(paragraph: str, speech: str) -> None:
    assert turns(paragraph) == [speech]


@pytest.mark.parametrize(
    ("paragraph", "style", "speech"),
    [
        ("--Hola.--¿Qué?--Nada.", STYLE, ["Hola.", "¿Qué?", "Nada."]),
        ("--¿Qué es?--dijo uno.--Un gato.", STYLE, ["¿Qué es?", "Un gato."]),
        ("--Esta noche iré--le dije.--¿Quieres?", OPEN, ["Esta noche iré. ¿Quieres?"]),
        ("--Venid,--dijo ella,--que es tarde.", OPEN, ["Venid, que es tarde."]),
        ("--¡Vivo!--Lo he visto--dijo Ana--. Corría.", STYLE, ["¡Vivo!", "Lo he visto. Corría."]),
        ("--¡Sal!--gritó él.--Y agachándose detrás del pozo, tiró la piedra.", OPEN, ["¡Sal!"]),
        ("--¡Luis!--llamó.--El caballo pasó trotando por la era.", OPEN, ["¡Luis!"]),
        ("--«Todo fue en vano. Ardió el molino.»", GLUED, ["Todo fue en vano. Ardió el molino."]),
        ("--Eso es.--Y don Juan, de pie, dijo--: Otra.", STYLE, ["Eso es. Otra."]),
        ("--¿Quién? Salió corriendo.", STYLE, ["¿Quién? Salió corriendo."]),
        ("--¿Quién? Salió corriendo.", GLUED, ["¿Quién?"]),
        ("--Déjame. Ana salió.--¿Y ella?", GLUED, ["Déjame.", "¿Y ella?"]),
    ],
)
def test_several_speakers(paragraph: str, style: Style, speech: list[str]) -> None:
    assert turns(paragraph, style) == speech


@pytest.mark.parametrize(
    ("paragraph", "style", "reason"),
    [
        ("—No irá—pensó Ana.", STYLE, "thought"),
        ("—No irá—se dijo.", STYLE, "thought"),
        ("—¿Va? «¿Irá?» se preguntó Ana.", STYLE, "thought"),
        # A comma or none: only who knows the sentence can tell.
        ("—Luis—dijo Ana—viene ya.", STYLE, "narration_inside"),
        ("—No irá—dijo a Luis.", STYLE, None),
        ("—¿Quién? Salió corriendo. No me gusta.", GLUED, "narration_inside"),
    ],
)
def test_reasons(paragraph: str, style: Style, reason: str | None) -> None:
    assert [turn.reason for turn in parse_turn(paragraph, style).turns] == [reason]


def test_styles() -> None:
    assert Style.of("--Ven--dijo él--. Ya.\n\n--No--dijo ella--, no.") == Style()
    assert Style.of("--Ven--dijo él.--Ya.\n\n--Voy.") == Style(closing=False)
    assert Style.of("-Ven -dijo él-. Ya.\n\n-Voy.") == Style(hyphens=True)
    assert Style.of("--¿Quién?--Yo.\n\n--Ven--dijo él--. Ya.") == Style(glued=True)
    assert Style.of("Nada.") == Style()


def test_hyphens_for_dashes() -> None:
    style = Style(hyphens=True)
    assert turns("-Y por eso -dijo Luis-, ¿habrá más medio-días?", style) == [
        "Y por eso, ¿habrá más medio-días?"
    ]
    assert turns("»-Ven -dijo.", style) == ["Ven."]


def test_narration_parts_conversations() -> None:
    assert (MAX_GAP, MAX_TURN_WORDS) == (150, 100)
    short, long = "N" + "a" * (MAX_GAP - 2) + ".", "N" + "a" * (MAX_GAP - 1) + "."
    assert texts(f"--A.\n\n{short}\n\n--B.") == [["A.", "B."]]
    assert texts(f"--A.\n\n{long}\n\n--B.") == [["A."], ["B."]]
    # What stands after the speech in its own paragraph counts too.
    assert texts(f"--A--dijo él. {'a' * MAX_GAP}\n\n--B.") == [["A."], ["B."]]


@pytest.mark.parametrize(
    "between",
    [
        *("II", "CAPÍTULO SEGUNDO", "Capítulo II. De lo que vio", "* * * * *", "--XVII--", "12"),
        "Entonces dijo:--¿Quién va?",
        "1. Mis amigos ---- el quince del mes.",
        "--Una luz\nen el mar\nque se va\ny no vuelve.",
    ],
)
def test_what_ends_a_conversation(between: str) -> None:
    found = texts(f"--A.\n\n--B.\n\n{between}\n\n--C.\n\n--D.")
    assert (found[0], found[-1]) == (["A.", "B."], ["C.", "D."])


@pytest.mark.parametrize("between", ["[Nota 1: Larga. " + "a" * 200 + "]", "[Illustration: x]"])
def test_notes_and_pictures_do_not(between: str) -> None:
    assert texts(f"--A.\n\n{between}\n\n--B.") == [["A.", "B."]]


def test_headings() -> None:
    assert not is_heading("—¡NO!")
    assert not is_heading("Vino el cura.")
    assert not is_heading("Libro en mano, el cura se sentó y leyó durante una hora larga, sin que "
                          "nadie se atreviese a decir palabra.")  # fmt: skip


def test_a_turn_goes_on() -> None:
    # In the next paragraph, by its mark; »— is a turn in a story that somebody tells.
    assert texts("--Uno.\n\n»Dos.\n\n--Tres.") == [["Uno. Dos.", "Tres."]]
    assert texts("--Leyó: «Uno.\n\n»Dos.»\n\n--Tres.") == [["Leyó: «Uno. Dos.»", "Tres."]]
    assert texts("--«Uno.\n\n»Dos.»\n\n--Tres.") == [["Uno. Dos.", "Tres."]]
    assert texts("»--Uno.\n\n»Dos le oyó.\n\n»--Tres.") == [["Uno.", "Tres."]]
    # After narration that leaves the word with the speaker.
    assert texts("--Uno--dijo Ana. Se sentó y añadió:\n\n--Dos.\n\n--Tres.") == [
        ["Uno. Dos.", "Tres."]
    ]
    assert texts("--Uno--dijo Ana. Luis contestó:\n\n--Dos.") == [["Uno.", "Dos."]]
    assert texts("--Uno--dijo Ana. Luis, al oírlo, dijo:\n\n--Dos.") == [["Uno.", "Dos."]]


def test_quotation_marks_open_turns_that_are_said_aloud() -> None:
    assert texts("Luego me dijo:\n\n«¿Vienes?\n\n--No.") == [["¿Vienes?", "No."]]
    assert texts("«Buen mozo--decía mi tío--. ¿Y tú?\n\n--Yo no.") == [
        ["Buen mozo. ¿Y tú?", "Yo no."]
    ]
    assert texts("Luego pensó:\n\n«¿Vendrá?»\n\n--No.") == [["No."]]
    assert texts("«Mal día», pensaba.\n\n--No.") == [["No."]]


def test_turns_without_empty_lines_between() -> None:
    assert texts("--Hola.\n--¿Qué tal?\n--Bien.") == [["Hola.", "¿Qué tal?", "Bien."]]
    # A dash at the beginning of a line that was full belongs to the paragraph.
    full = "--Tengo que decirte una cosa que no sabe nadie en este pueblo--dijo él\n--. Ven."
    assert texts(full) == [["Tengo que decirte una cosa que no sabe nadie en este pueblo. Ven."]]


SPEECH = st.sampled_from(["Ven aquí", "¿Qué quieres?", "¡Calla!", "No sé", "Mañana iremos al río"])
VERBS = st.sampled_from(["dijo", "exclamó Ana", "preguntó el cura", "añadía", "respondióle Luis"])


@given(st.lists(st.tuples(SPEECH, st.none() | VERBS, st.none() | SPEECH), min_size=1, max_size=6))
def test_what_was_put_in_comes_out(said: list[tuple[str, str | None, str | None]]) -> None:
    paragraphs, expected = [], []
    for first, verb, second in said:
        stop = "" if first[-1] in "?!" else "."
        if verb is None:
            paragraphs.append(f"--{first}{stop}")
            expected.append(f"{first}{stop}")
        elif second is None:
            paragraphs.append(f"--{first}--{verb}.")
            expected.append(f"{first}{stop}")
        else:
            paragraphs.append(f"--{first}--{verb}--. {second}.")
            expected.append(f"{first}{stop} {second}.")
    assert texts("\n\n".join(paragraphs)) == [expected]


@pytest.mark.parametrize(
    "unit",
    [
        "\n",
        " ",
        "* ",
        "—a",
        "--A.\n\n»b\n\n",
        "[Nota ",
        "(dijo ",
        ", y ",
        "y añadió ",
        "a-\n",
        "«—a",
    ],
)
def test_long_texts_are_read(unit: str) -> None:
    # With a pattern or a loop that is quadratic any of these takes minutes.
    text = "--Hola, " + unit * (200_000 // len(unit)) + "x\n\n--Adiós."
    assert Style.of(text) is not None
    assert conversations(text, STYLE)[-1][-1].text == "Adiós."


@given(st.text(alphabet="—-«»¿?¡!.,:; \naábcAÁdijo[]_"))
def test_any_text_is_read(text: str) -> None:
    for style in (STYLE, OPEN, GLUED, Style(hyphens=True)):
        for found in conversations(text, style):
            assert found
            assert all("\n" not in turn.text for turn in found)
