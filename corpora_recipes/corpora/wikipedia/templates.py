"""Renders the templates and parser functions of wikitext, by the tables of wikis.yaml."""

import re
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from corpora_recipes.recipe import load_facts
from corpora_recipes.validation import validate
from corpora_recipes.yaml_files import load_yaml

# Marks that replace markup in half-cleaned text: Unicode noncharacters, which no text contains.
HOLE = "\ufdd0"  # visible content that could not be rendered
FORMULA = "\ufdd1"  # a formula
NOTHING = "\ufdd2"  # markup that shows nothing in a sentence
SILENT = "\ufdd3"  # a pronunciation, a sound, coordinates
MARKS = HOLE + FORMULA + NOTHING + SILENT
DISAMBIGUATION = "\ufdd9"  # returned by render for a template that marks a disambiguation page
BOX = "\ufdda"  # returned by render for one that is shown apart at the start of a line, else a HOLE

SUPERSCRIPT = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_MISSING = "\ufdd4"
_PROTECT = str.maketrans("[]{}", "\ufdd5\ufdd6\ufdd7\ufdd8")
_UNPROTECT = str.maketrans("\ufdd5\ufdd6\ufdd7\ufdd8", "[]{}")
_TABLE = Path(__file__).with_name("wikis.yaml")
# A number, optionally with its unit: "4478102 habitants".
_NUMBER = re.compile(r"([-+−]?)(\d+)(?:\.(\d+))?(\s+[^\d\s].*)?", re.DOTALL)
_RANGES = frozenset(
    ("-", "–", "±", "a", "al", "and", "bis", "by", "e", "et", "i", "o", "or", "to", "x", "y", "×")
)
_SLOT = re.compile(r"\{([^{}]*)\}")
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
# Words of templates of dates that add an age to the date.
_AGES = frozenset(("age", "âge", "edad", "edade", "edat", "idade"))
_METRIC_POWER = re.compile(r"\b([cdhkm]?m)([23])\b")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Wiki:
    """The facts of wikis.yaml (which explains them) about one language's Wikipedia, and all.

    Attributes:
        file: names of the file namespace, as ``category`` and ``template`` of theirs; lower case.
        no_topics: matches categories that are not about the subject of a page, if there are any.
        framed: matches an option of a file link that sets the image apart from the text.
        rules: template name, lower case, to its rule: ("nothing", ""), ("box", ""), ("silent", ""),
            ("disambiguation", ""), ("title", ""), ("measure", ""), ("show", format) or
            ("date", order).
        prefixes: the same for names that end in *, the longest first.
        date: formats of a full date, of month and year, of day and month.
        dangling: words that cannot end a sentence.
        holes: words and marks that are adjacent only if something between them was lost; None if
            the tables list no such pattern.
        possible_holes: the same without its exceptions, in RE2's syntax.
        grouping_from: number of digits from which thousands are grouped.
    """

    file: frozenset[str]
    category: frozenset[str]
    framed: re.Pattern[str]
    template: frozenset[str]
    interlanguage: frozenset[str]
    disambiguation_categories: frozenset[str]
    no_topics: re.Pattern[str] | None
    rules: dict[str, tuple[str, str]]
    prefixes: tuple[tuple[str, tuple[str, str]], ...]
    languages: dict[str, str] = field(default_factory=dict)
    months: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    first_day: str
    elides: bool
    units: dict[str, str]
    dangling: frozenset[str]
    holes: re.Pattern[str] | None
    possible_holes: str
    decimal: str
    grouping: str
    grouping_from: int


@cache
def load_wiki(language: str) -> Wiki:
    """Return the facts about the Wikipedia in a language; if unknown, those that all share."""
    table = load_yaml(_TABLE)
    shared = table["any"]
    special: dict[str, Any] = table.get(language.split("-")[0].lower(), {})
    facts: dict[str, Any] = {**shared, **special}
    rules: dict[str, tuple[str, str]] = {}
    for entry in (shared, special):
        for kind in ("nothing", "box", "silent", "disambiguation", "title"):
            rules.update((name.lower(), (kind, "")) for name in entry.get(kind, ()))
        rules.update((name, ("measure", "")) for name in entry.get("measures", ()))
        for order, names in entry.get("dates", {}).items():
            rules.update((name.lower(), ("date", order)) for name in names)
        rules.update((name.lower(), ("show", form)) for name, form in entry.get("show", {}).items())
    prefixes = sorted(
        ((name[:-1], rule) for name, rule in rules.items() if name.endswith("*")),
        key=lambda item: (-len(item[0]), item[0]),
    )
    computed = {
        **{key: [*shared[key], *special.get(key, ())] for key in ("file", "category", "template")},
        "framed": re.compile(rf"\|\s*(?:{'|'.join(shared['framed'])})", re.IGNORECASE),
        "interlanguage": [*load_facts("wikipedia").languages, *table["interlanguage"].split()],
        "disambiguation_categories": map(str.lower, facts.get("disambiguation_categories", ())),
        "no_topics": re.compile("|".join(special["no_topics"])) if "no_topics" in special else None,
        "rules": {name: rule for name, rule in rules.items() if not name.endswith("*")},
        "prefixes": prefixes,
        "holes": _compile_holes(facts["holes"]),
        "possible_holes": "|".join(entry["hole"] for entry in facts["holes"]),
    }
    return validate(Wiki, {**facts, **computed}, f"{_TABLE}: {language}")


def _compile_holes(entries: list[dict[str, str]]) -> re.Pattern[str] | None:
    patterns = (
        f"{entry['hole']}(?!{entry['unless']})" if "unless" in entry else entry["hole"]
        for entry in entries
    )
    return re.compile("|".join(patterns)) if entries else None


def render(content: str, title: str, wiki: Wiki) -> str:
    """Return what a template shows: text, HOLE, NOTHING, SILENT, BOX or DISAMBIGUATION.

    ``content`` is what stands between ``{{`` and ``}}``, with its templates and links rendered. A
    template that is not in the tables is a HOLE on one line, and a BOX on several.
    """
    # Most pages use the same few thousand templates.
    rendered = _render(content, wiki) if len(content) < 100 else _render.__wrapped__(content, wiki)
    return title if rendered is None else rendered


@lru_cache(maxsize=1 << 14)
def _render(content: str, wiki: Wiki) -> str | None:
    """Return what a template shows; None for the page's title."""
    name, bar, arguments = content.partition("|")
    rule, star = find_rule(name, wiki)
    if rule is None and ":" in name:
        head, _, argument = content.partition(":")
        head = head.strip(MARKS + " \t\n").lower()
        if head in wiki.template:
            return _render(argument, wiki)
        return _parser_function(head, argument, wiki)
    if rule is None:
        return BOX if "\n" in content else HOLE
    kind, form = rule
    if kind in ("nothing", "box"):
        return NOTHING if kind == "nothing" else BOX
    if kind == "title":
        return None
    if kind == "show":
        return _show(form, arguments.split("|") if bar else [], star, wiki)
    if kind == "date":
        return _date(arguments.split("|"), form, wiki)
    if kind == "measure":
        rendered = _measure(arguments.split("|"), wiki)
        return _METRIC_POWER.sub(lambda match: match[1] + superscript(match[2]), rendered)
    return SILENT if kind == "silent" else DISAMBIGUATION


@lru_cache(maxsize=1 << 16)
def find_rule(name: str, wiki: Wiki) -> tuple[tuple[str, str] | None, str]:
    """Return the rule of a template name, as written, and the text that matches its star."""
    name = " ".join(name.replace("_", " ").strip(MARKS + " \t\n").split()).lower()
    rule = wiki.rules.get(name)
    if rule is None:
        for prefix, candidate in wiki.prefixes:
            if name.startswith(prefix):
                return candidate, name[len(prefix) :]
    return rule, ""


def format_number(text: str, wiki: Wiki) -> str:
    """Write a number, perhaps with a unit, in the wiki's format; other text is not changed."""
    match = _NUMBER.fullmatch(text.strip())
    if not match:
        return text.strip()
    sign, integer, decimals, unit = match.groups(default="")
    if len(integer) >= wiki.grouping_from:
        integer = f"{int(integer):,}".replace(",", wiki.grouping) if len(integer) < 40 else integer
    return sign.replace("-", "−") + integer + (decimals and wiki.decimal + decimals) + unit


def superscript(text: str) -> str:
    """Return the text as an exponent, if Unicode has the characters; else HOLE."""
    raised = text.strip().translate(SUPERSCRIPT)
    return raised if not re.search(r"[^⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ]", raised) else HOLE


def _parser_function(head: str, argument: str, wiki: Wiki) -> str:
    parts = [part.strip() for part in argument.split("|")]
    if head == "#if" or (head == "#ifeq" and len(parts) > 2):
        holds = bool(parts[0].strip(NOTHING)) if head == "#if" else parts[0] == parts.pop(1)
        chosen = parts[1:2] if holds else parts[2:3]
        return "".join(chosen) or NOTHING
    if head == "formatnum":
        return format_number(parts[0], wiki) or HOLE
    if head in ("lc", "uc", "lcfirst", "ucfirst"):
        text = parts[0]
        change = str.lower if head.startswith("lc") else str.upper
        return change(text[:1]) + text[1:] if head.endswith("first") else change(text)
    if find_rule(head, wiki)[0] == ("nothing", ""):
        return NOTHING  # {{DEFAULTSORT:…}}
    # {{#tag:ref|…}} shows a footnote mark; other tags, #switch, #expr, #invoke show unknown text.
    if head == "#tag":
        return NOTHING if parts[0].lower() == "ref" else HOLE
    return BOX if "\n" in argument else HOLE


def _arguments(parts: list[str]) -> dict[str, str]:
    arguments: dict[str, str] = {}
    position = 0
    for part in parts:
        key, equals, value = part.partition("=")
        if equals and "<" not in key:
            arguments[key.strip().lower()] = value.strip()
        else:
            position += 1
            arguments[str(position)] = part.strip()
    return arguments


def _show(form: str, parts: list[str], star: str, wiki: Wiki) -> str:
    arguments = _arguments(parts)
    # A parameter without a name that the format does not mention may be shown.
    shown = {key for key, value in arguments.items() if key.isdecimal() and value.strip(NOTHING)}
    if shown - _positions(form):
        return HOLE
    for alternative in form.split(" // "):
        rendered = _fill(alternative, arguments, star, wiki)
        if _MISSING not in rendered:
            return rendered or NOTHING
    return HOLE


@cache
def _positions(form: str) -> frozenset[str]:
    """Return the numbers of the parameters that a format mentions."""
    return frozenset(re.findall(r"\d+", " ".join(_SLOT.findall(form))))


def _fill(form: str, arguments: dict[str, str], star: str, wiki: Wiki) -> str:
    """Fill a format of wikis.yaml; missing required values leave _MISSING."""

    def slot(match: re.Match[str]) -> str:
        keys = match[1]
        if keys == "*":
            return wiki.languages.get(star.strip(), _MISSING)
        if keys[0] == "@":
            return wiki.languages.get(arguments.get(keys[1:], ""), _MISSING)
        if keys[0] == "~":
            return ""
        if keys[0] == "!":
            return _MISSING if arguments.get(keys[1:]) else ""
        if ":" in keys:
            key, _, choices = keys.partition(":")
            argument = arguments.get(key, "")
            default = _MISSING if argument else ""
            return dict(c.split("=", 1) for c in choices.split(",")).get(argument, default)
        suffix = keys[-1] if keys[-1] in "#^%" else ""
        for key in keys.removesuffix(suffix).split("|"):
            if key == "_":
                return " "
            if value := arguments.get(key, ""):
                if suffix == "#":
                    return format_number(value, wiki)
                if suffix == "%":
                    return _month(value, wiki) or _MISSING
                return superscript(value) if suffix == "^" else value
        return _MISSING

    def optional(match: re.Match[str]) -> str:
        text = _SLOT.sub(slot, match[1])
        return "" if _MISSING in text else text.translate(_PROTECT)

    # From the inside out; brackets in filled-in values are protected.
    while "[" in form:
        form = _OPTIONAL.sub(optional, form)
    return _SLOT.sub(slot, form).translate(_UNPROTECT)


def _measure(parts: list[str], wiki: Wiki) -> str:
    """Render a measure in its original unit: 5|km, 5|to|8|km, 6|ft|2|in."""
    arguments = _arguments(parts)
    number, second, third, unit = (arguments.get(key, "") for key in "1234")
    if not (number and second):
        return HOLE
    # "to(-)" joins with a dash in adjectives only; "13+7/8" is a mixed number.
    second = second.removesuffix("(-)")
    rendered = number.replace("+", " ") if "/" in number else format_number(number, wiki)
    second, third, unit = (wiki.units.get(name, name) for name in (second, third, unit))
    if second.lower() in _RANGES:
        if not (third and unit) or unit.lower() in _RANGES:
            return HOLE
        between = second if second in "-–" else f" {second} "
        return f"{rendered}{between}{format_number(third, wiki)} {unit}"
    if _NUMBER.fullmatch(third) and unit.isalpha():
        return f"{rendered} {second} {third} {unit}"
    return f"{rendered} {second}"


def _date(parts: list[str], order: str, wiki: Wiki) -> str:
    """Render a date from its positional parameters, in the order "dmy" or "ymd"."""
    arguments = _arguments(parts)
    single = arguments.get("1", "")
    # All in one parameter: "29 9 2019".
    words = single.split() if "2" not in arguments else []
    in_one = len(words) in (2, 3)
    parameters = words if in_one else [arguments.get(key, "") for key in "123"]
    if order == "dmy" and any(parameters):
        while not parameters[0]:  # {{fecha||5|2000}}
            parameters.pop(0)
    values = []
    for value in parameters:
        if not (_is_short_number(value) or value.lower() in _lower(wiki.months)):
            break
        values.append(value)
    remaining = parameters[len(values) :]
    # A word may follow, such as a subject, but no number that belongs to the date, and no age.
    further = [*remaining, *(value for key, value in arguments.items() if key in "456")]
    incomplete = any(remaining) if in_one else any(value.isdecimal() for value in further)
    incomplete = incomplete or not _AGES.isdisjoint([*further, *arguments])
    if not values or incomplete or not wiki.months or not wiki.date:
        return single if " " in single else HOLE
    # A number of three digits or more is a year in any position.
    if len(values) > 1 and len(values[0]) > 2 and values[0].isdecimal():
        order = "ymd"
    elif len(values) > 2 and len(values[2]) > 2:
        order = "dmy"
    if order == "ymd":
        values.reverse()
    has_year = len(values) != 2 or (len(values[-1]) > 2 and values[-1].isdecimal())
    year = values.pop() if has_year else ""
    if not values:
        return year if year.isdecimal() and len(year) > 2 else HOLE
    month = values.pop()
    if not (month := _month(month, wiki)):
        return HOLE
    day = str(int(values[0])) if values and values[0].isdecimal() else ""
    if values and not day:
        return HOLE
    form = wiki.date[0 if day and year else 1 if year else 2]
    if day and year and arguments.get("df"):
        form = "{day} {month} {year}"
    rendered = form.format(day=wiki.first_day if day == "1" else day, month=month, year=year)
    if wiki.elides:
        rendered = re.sub(r"\bde (?=[aeiou])", "d'", rendered)
    return rendered if day or year else HOLE


def _month(value: str, wiki: Wiki) -> str:
    """Return the name of a month, given as name or number; "" if there is no such month."""
    if not value.isdecimal():
        return next((name for name in wiki.months if name.lower() == value.lower()), value)
    number = int(value) if _is_short_number(value) else 0
    return wiki.months[number - 1] if 1 <= number <= len(wiki.months) else ""


def _is_short_number(value: str) -> bool:
    """Tell whether a value is a number of at most the length of a year."""
    return value.isdecimal() and len(value) < 7


@cache
def _lower(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)
