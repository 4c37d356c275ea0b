"""The picture of the averages: what is drawn, and where."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from report_files import DR, ONE, SP, TWO, report_of

from probeta.annotation import AnnotatorScores
from probeta.report.figures import MAX_DRAWN, MAX_NAME_LENGTH, Picture, draw_averages, pictures
from probeta.report.statistics import Report

SVG = "{http://www.w3.org/2000/svg}"


def only(report: Report) -> Picture:
    (picture,) = pictures(report).values()
    return picture


def test_means_baselines_and_people_stand_where_they_are(tmp_path: Path) -> None:
    third = replace(ONE, name="third", scores=(replace(SP, value=0.9, interval=(0.8, 1.0)), DR))
    report = report_of(tmp_path, ONE, TWO, third)
    asked = AnnotatorScores(1, "sp_wiki", SP.digest, 10, (0.7,), 0.7, (0.6, 0.8), None)
    with_people = replace(report.inputs, people={"sp_wiki": asked})
    picture = only(replace(report, inputs=with_people))
    assert [*picture.names] == ["third", "char_hash", "use"]
    whole, position, relations = picture.panels
    assert whole.heading == ("All (2 of 11)", "All groups")
    assert position.heading == ("SP (1 of 3)", "Sentence position")
    assert (whole.people, position.people, relations.people) == (None, 0.7, None)
    assert (position.ends, relations.ends) == ((0.4, 1.0), (0.2, 0.4))
    assert float(position.x(0.7)) == position.left + position.width / 2
    root = ElementTree.fromstring(draw_averages([picture]))
    # Of the legend, one is full and the other hollow.
    dots = [dot.attrib for dot in root.iter(f"{SVG}circle")][:-2]
    drawn = [(dot["cx"], dot["class"] == "dot") for dot in dots]
    assert drawn == [
        *((whole.x(value), full) for value, full in ((0.6, True), (0.37605, False))),
        *((position.x(value), value > 0.5) for value in (0.9, 0.4521, 0.6)),
        *[(relations.x(0.3), False)] * 2,
    ]
    kinds = [path.get("class") for path in root.iter(f"{SVG}path")]
    assert (kinds.count("trivial"), kinds.count("people")) == (3 + 1, 1 + 1)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[-1] == "reached by people"
    assert "–" in texts, "an encoder without all datasets"


@pytest.mark.parametrize("count", [1, MAX_DRAWN, 200])
def test_the_best_of_many_encoders_are_drawn_and_the_others_counted(
    tmp_path: Path, count: int
) -> None:
    names = [f"{'x' * MAX_NAME_LENGTH}_{number}" for number in range(count)]
    report = report_of(tmp_path, replace(ONE, scores=(SP,)))
    encoders = tuple(replace(report.inputs.encoders[0], name=name) for name in names)
    picture = only(Report(replace(report.inputs, encoders=encoders), {}))
    assert len(picture.names) == min(count, MAX_DRAWN)
    # A single group is all of them.
    assert [panel.heading[0] for panel in picture.panels] == ["SP (1 of 3)"]
    assert {*picture.names.values()} == {"x" * (MAX_NAME_LENGTH - 1) + "…"}
    text = draw_averages([picture], alone=True, sample=True)
    assert (f"has {count - MAX_DRAWN} other encoders" in text) == (count > MAX_DRAWN)
    assert "Sample data" in text
    assert f'height="{picture.height + 30 + 44 + 4 + 17 * (5 + (count > MAX_DRAWN))}"' in text
