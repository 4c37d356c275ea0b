"""The whole pipeline on the samples: `probeta repro` in a copy of the project."""

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from documentation import blocks
from projects import entries_made, run


@cache
def digests(folder: Path) -> dict[tuple[str, str], tuple[int, str]]:
    lines = run("probeta digest dist/hub", folder).stdout.splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return {(row[0], row[1]): (int(row[2]), row[4]) for row in rows}


def test_the_samples_give_these_rows(project: Path) -> None:
    found = {f"{config} {split}": rows for (config, split), (rows, _) in digests(project).items()}
    assert found == PINNED_ROWS


def test_the_samples_give_this_content(project: Path) -> None:
    last = {config: f"{config} {split}" for config, split in digests(project)}
    content = {f"{config} {split}": c for (config, split), (_, c) in digests(project).items()}
    assert {name: content[name] for name in last.values()} == PINNED_CONTENT


def test_what_was_read_was_used_or_left_out_for_a_reason(project: Path) -> None:
    units = []
    for path in sorted(project.glob("data/instances/*/*/build.json")):
        for name, entry in json.loads(path.read_text("utf-8")).items():
            for unit in entry.keys() & UNITS:
                counts = entry[unit]
                outcomes = {key: n for key, n in counts.items() if key not in OF_THE_USED}
                read = outcomes.pop("read", None) or outcomes.pop("found")
                assert read == sum(outcomes.values()), (name, unit, counts)
                assert min(outcomes.values()) >= 0, (name, unit, counts)
                units.append(unit)
            if "examples" in entry:
                assert entry["examples"]["used"] == sum(entry["rows"].values())
    assert len(units) > len(PINNED_CONTENT)


UNITS = {"documents", "passages", "examples", "texts", "pairs", "sentences"}
# Outcomes that say more of what was used.
OF_THE_USED = {
    "also_in_another_split",
    "used_in_another_dataset_too",
    "with_positives",
    "groups_of_positives",
}

PINNED_ROWS = {
    "bishift train": 48,
    "bishift validation": 16,
    "bishift test": 16,
    "bso_arxiv train": 16,
    "bso_arxiv validation": 12,
    "bso_arxiv test": 12,
    "bso_mlsum train": 32,
    "bso_mlsum validation": 12,
    "bso_mlsum test": 10,
    "bso_roc train": 18,
    "bso_roc validation": 14,
    "bso_roc test": 12,
    "bso_thesis train": 50,
    "bso_thesis validation": 18,
    "bso_thesis test": 14,
    "bso_wiki train": 48,
    "bso_wiki validation": 22,
    "bso_wiki test": 14,
    "bso_wiki_en train": 42,
    "bso_wiki_en validation": 14,
    "bso_wiki_en test": 14,
    "coord_inv train": 48,
    "coord_inv validation": 16,
    "coord_inv test": 16,
    "dc_gdd train": 24,
    "dc_gdd validation": 24,
    "dc_gdd test": 26,
    "dc_opus train": 86,
    "dc_opus validation": 48,
    "dc_opus test": 6,
    "dc_ubuntu train": 10,
    "dc_ubuntu validation": 4,
    "dc_ubuntu test": 4,
    "dc_wiki train": 22,
    "dc_wiki validation": 6,
    "dc_wiki test": 10,
    "dc_wiki_en train": 20,
    "dc_wiki_en validation": 6,
    "dc_wiki_en test": 6,
    "dr_rst train": 125,
    "dr_rst validation": 26,
    "dr_rst test": 49,
    "evalrank_en test": 324,
    "evalrank_es test": 402,
    "evalrank_words_en test": 976,
    "evalrank_words_es test": 10673,
    "fac train": 141,
    "mc train": 105,
    "nli_es train": 72,
    "nli_es validation": 42,
    "nli_es test": 42,
    "obj_num train": 48,
    "obj_num validation": 16,
    "obj_num test": 16,
    "paralex_en test": 13,
    "paralex_es test": 13,
    "paws_es train": 92,
    "paws_es validation": 23,
    "paws_es test": 23,
    "pdtb_explicit train": 40,
    "pdtb_explicit validation": 12,
    "pdtb_explicit test": 16,
    "pdtb_implicit train": 31,
    "pdtb_implicit validation": 11,
    "pdtb_implicit test": 14,
    "rst train": 141,
    "rst validation": 11,
    "rst test": 47,
    "sent_len train": 54,
    "sent_len validation": 21,
    "sent_len test": 21,
    "sick_es_e train": 110,
    "sick_es_e validation": 36,
    "sick_es_e test": 48,
    "sick_es_r train": 110,
    "sick_es_r validation": 36,
    "sick_es_r test": 48,
    "sp_arxiv train": 10,
    "sp_arxiv validation": 5,
    "sp_arxiv test": 10,
    "sp_mlsum train": 25,
    "sp_mlsum validation": 10,
    "sp_mlsum test": 10,
    "sp_roc train": 20,
    "sp_roc validation": 10,
    "sp_roc test": 10,
    "sp_thesis train": 40,
    "sp_thesis validation": 15,
    "sp_thesis test": 10,
    "sp_wiki train": 45,
    "sp_wiki validation": 20,
    "sp_wiki test": 10,
    "sp_wiki_en train": 25,
    "sp_wiki_en validation": 10,
    "sp_wiki_en test": 10,
    "sqc train": 99,
    "sqc validation": 11,
    "sqc test": 40,
    "ssp_abs train": 38,
    "ssp_abs validation": 8,
    "ssp_abs test": 12,
    "ssp_mlsum train": 16,
    "ssp_mlsum validation": 8,
    "ssp_mlsum test": 12,
    "sts14_es test": 54,
    "sts15_es test": 54,
    "sts17_es test": 40,
    "subj_num train": 48,
    "subj_num validation": 16,
    "subj_num test": 16,
    "tass1 train": 63,
    "tass1 validation": 7,
    "tass1 test": 40,
    "tass2 train": 98,
    "tass2 validation": 11,
    "tass2 test": 45,
    "tense train": 48,
    "tense validation": 16,
    "tense test": 16,
    "tree_depth train": 48,
    "tree_depth validation": 19,
    "tree_depth test": 18,
    "ud_bigram_shift_es train": 190,
    "ud_bigram_shift_es validation": 70,
    "ud_bigram_shift_es test": 68,
    "ud_coordination_inversion_es train": 14,
    "ud_coordination_inversion_es validation": 4,
    "ud_coordination_inversion_es test": 2,
    "ud_dropped_subject_es train": 16,
    "ud_dropped_subject_es validation": 4,
    "ud_dropped_subject_es test": 4,
    "ud_ngram_shift_es train": 178,
    "ud_ngram_shift_es validation": 68,
    "ud_ngram_shift_es test": 68,
    "ud_object_gender_es train": 88,
    "ud_object_gender_es validation": 28,
    "ud_object_gender_es test": 22,
    "ud_object_number_es train": 84,
    "ud_object_number_es validation": 24,
    "ud_object_number_es test": 28,
    "ud_odd_word_es train": 190,
    "ud_odd_word_es validation": 70,
    "ud_odd_word_es test": 68,
    "ud_sentence_length_es train": 18,
    "ud_sentence_length_es validation": 6,
    "ud_sentence_length_es test": 12,
    "ud_subject_gender_es train": 128,
    "ud_subject_gender_es validation": 40,
    "ud_subject_gender_es test": 36,
    "ud_subject_number_es train": 84,
    "ud_subject_number_es validation": 34,
    "ud_subject_number_es test": 30,
    "ud_subject_order_es train": 40,
    "ud_subject_order_es validation": 12,
    "ud_subject_order_es test": 12,
    "ud_subjunctive_es train": 26,
    "ud_subjunctive_es validation": 2,
    "ud_subjunctive_es test": 12,
    "ud_tense_es train": 124,
    "ud_tense_es validation": 40,
    "ud_tense_es test": 38,
    "ud_top_constituents_es train": 40,
    "ud_top_constituents_es validation": 5,
    "ud_top_constituents_es test": 15,
    "ud_tree_depth_es train": 3,
    "ud_tree_depth_es validation": 6,
    "ud_tree_depth_es test": 3,
    "ud_voice_es train": 30,
    "ud_voice_es validation": 12,
    "ud_voice_es test": 12,
    "ud_word_content_es train": 12,
    "ud_word_content_es validation": 3,
    "ud_word_content_es test": 3,
    "wc train": 48,
    "wc validation": 16,
    "wc test": 16,
}
# Of the last split: a change here is a change of the rows, and wants a new version of the dataset.
PINNED_CONTENT = {
    "bishift test": "844a67b4c78b81de91cd2154a27df0778f34ded3cc6cfcdd2ad2fe6e35f8d3c0",
    "bso_arxiv test": "b0653e6fbed4076fd4dcc6135ddec94bf1b04e84653d0e70caea1408663cdd60",
    "bso_mlsum test": "840e3ef0b0473214fa549d436f2ee70eb940926f4d0b378cdabad93e39b86c94",
    "bso_roc test": "d797c35789c0f9b4d64cdcb2236d50800eb47892668857482cca5fe13372ff51",
    "bso_thesis test": "8513b6cd6795ea658976a57fb0baca6b0031c0eb2a2b5f05e42ba262589b57aa",
    "bso_wiki test": "6751144cdfd569bedf6d7e47610f3111f325bf373507105490b7b7dad86dad2d",
    "bso_wiki_en test": "cbb8593747dedb53ad4388165d09876ddffb8a7594fa6265a7216754cd0bcb9b",
    "coord_inv test": "0d3d06d38b198f2fae6b9ace21757b1596d6e828fe0fbb723074ed82aca58cfe",
    "dc_gdd test": "da2bf5a0e76854ce5c105c74666b36cf2709669ae99c7c88b077d2f5e7bbfad0",
    "dc_opus test": "639cb2076a2156d7c67d8c9cd79bf8996563d37d1019523ea7ca64f8028867ea",
    "dc_ubuntu test": "4fce0c93a1563e27903d25aec3486a153b70cc62a2a75fd0f13dc03935e9b740",
    "dc_wiki test": "884dcd23542443d61d92140ce5c0a46e2d2bbc4e7e16ce402900c014f5e481bb",
    "dc_wiki_en test": "935f9280682c4377290cd7711afdf9be24b30fb5edef35ceb470a66829fec641",
    "dr_rst test": "fa3dee2e2170d1cc923029254847b03e6506791751ae3cf268263cd74d3bed05",
    "evalrank_en test": "3763adb12da15071238ba37663f1c55fd73bf02676f95b1bc2da0574f6b32752",
    "evalrank_es test": "2d657e3ad5a1411c437a2cfdfe290ec0420166612ab440c98d8176857217befd",
    "evalrank_words_en test": "04f6e1057f18933de7e9647e26e485d664abef1b467125d7287fa40e9169e45b",
    "evalrank_words_es test": "f20399420c600704433aa242e39bf8954e7b2107696ea15a60ec831a331a3444",
    "fac train": "fa87c97a665356eacdef1016cb21b4abbdd4a33368efe4bc1ed6e634fabc038d",
    "mc train": "55ba4c633a1f0fe19203420cda011dd1077fa9bbdf95b6b40598238144d2c3bd",
    "nli_es test": "527950b4664eeb6cc1eb32c2f459a998a4887ffbf8bc42a4d5a85f973963f41a",
    "obj_num test": "641099fab63d436ec5934d7dc88eb6d0c90762c22bce750fcff03024a16332e1",
    "paralex_en test": "8c16234aa3639ab1d79aa9348994e79f73a0399083807e8b927f74a3a6d65c5b",
    "paralex_es test": "af6acf37afb934406bfad09de586a3c918ed48cb1b2c8c7770060cab1d8b8b5b",
    "paws_es test": "91ab96c85e1a9a890abe1184d42cb29664d4b6b9f9e7d7f7cfbf2394966c5d30",
    "pdtb_explicit test": "13fad5da4552c0734c4142e37a1bb07d8f3a96d5e690af38e6e2440f3c07ddff",
    "pdtb_implicit test": "faf421972e7a57c5ee0cdc8c9cac6bec18ce2efbda0426ed423473965fc831b1",
    "rst test": "af27ed6cf7b16b06eee095299398070a280223d7cbcfaae5df097ca755adbad8",
    "sent_len test": "bc510971a69bd7e63cb2d9a89eac3863e4341001c525902ba053b02ee2b7769c",
    "sick_es_e test": "1a418889675d3488a8f8bf0333160f2be102860595284cc5cb6a1ac1ad32977d",
    "sick_es_r test": "68e6d83866b4128603eabae15e6ce38eae43d99f381f00076147c9774606bfa8",
    "sp_arxiv test": "667b00e32417ef1fc775c8e9def49872208bb6819dcf8095edb8630c3cc2e90e",
    "sp_mlsum test": "d7437208a92c74ddc68aa64e21933714aa00f8da1067892db40b64cab5068010",
    "sp_roc test": "90a47da92e0b7ed694735261e0e36d2a04feb96130d28471264659c3169547b5",
    "sp_thesis test": "b521e6dbe4ee8de32bd8e96cef02de65254723d8fd3f63366209203c57c46fb3",
    "sp_wiki test": "c586452013ea7fa75b0a7bcf1aca11b95e69cc74e7216afe8eb02bbe2a4d6432",
    "sp_wiki_en test": "5f8c123978e67ac7f5e72f61f706a4475fd66cc109d16a6666d31291030574d3",
    "sqc test": "1d7e7d08a2465d47072c6dedc90c7951cdc1073c6cb00c8a74287fdda73a625c",
    "ssp_abs test": "f55e52f295b554a07302398c2cb259f89f78907c77e37b8a0d2438d0d9bff4b2",
    "ssp_mlsum test": "4ba4b5160bbf1f563381998d336d27015dbe196770ceb8350c23e08c7e55cd85",
    "sts14_es test": "44b236665558fddfdd988d62d7fcd45e546563204ec4e927f3229d1a3d16df2c",
    "sts15_es test": "3e31410bd0bb98e31f533ae1a7f8ecb1be8e0abdd55b64731c208c19d4424d6b",
    "sts17_es test": "0356fb18c3e66fc5beec60d7ca2e6002b987e8c6a6c2864c6b9f1b798c6c1f21",
    "subj_num test": "cbe78e91f487e9b51b1eb254dd4723f60e00bd85d6c476e5ab4f199b2e22a39f",
    "tass1 test": "19bfee7d265c5917938b57bc965c182e389305f5f412067007098b4865ed1b8d",
    "tass2 test": "288dde9c7bdbaf66aac45eb911470fda4ab7b424d84a11199b3329efc9444c06",
    "tense test": "5e8a33733911a6c3d089243c3099c76c61b74475019ac8262496a41780bd9301",
    "tree_depth test": "2baf8e7fd58e25d704e632521e37c3d23ac86dff82a4f01196de1f5ebe61bd3e",
    "ud_bigram_shift_es test": "61bbd37f5b06b201c940329a904ba58f7fb87a2454b015545bf9f3b5464cfae1",
    "ud_coordination_inversion_es test": (
        "17b51e5c3cc9922fba6655d28fca6199ba3ce33a547fd51d1b91dd0bd85c778f"
    ),
    "ud_dropped_subject_es test": (
        "c7e5829f66b30d152409325bb5fdf1155d5a4eb80d8b48c1522e803cc2144cc9"
    ),
    "ud_ngram_shift_es test": "b546d654890fcf5e82e1fc6640617062f9bb8c350dc789551e09d79a5f7dbdf1",
    "ud_object_gender_es test": "9300dc4ed7e4150c27d8056821e1356cd8866581857f6a9051a327c3ec1d82af",
    "ud_object_number_es test": "a9705f6261467489e3e87ce4810d0d380721cd02d1a60fa3114f016ad66a3dd7",
    "ud_odd_word_es test": "1ee459f2e2d9753a84663b9e54b0e3ade2086ef426887943c103e517ffc685bb",
    "ud_sentence_length_es test": (
        "6c76f6383a74c460c9460ec518ace97eec741ec6ccca7012d90076ae04ef1235"
    ),
    "ud_subject_gender_es test": "baca7f5a200881d1b2cf8a7039f65d32df11c4f5c50187f96e66fbe4828a0907",
    "ud_subject_number_es test": "e7b9e8f203e11bfb16e3dd9cb588e40e7318f2eeff605d5ba8a5727df230ad9f",
    "ud_subject_order_es test": "3c583e84d7422e45b686fb6ee469b4ba351bd986c6bfdadb9421c823e2cbece1",
    "ud_subjunctive_es test": "d9356e2ecbe976569bffaebe9fa5a2dd014b606153764a190b3977047b181ab7",
    "ud_tense_es test": "8cfa9032f68c1aa537f8581bb30931bddc4aba7a2aa505e1ee7aac5cd544de4d",
    "ud_top_constituents_es test": (
        "9ae47f570c6e696291520248659b791b25cfbe554766eb91ee23ce0595bb62b3"
    ),
    "ud_tree_depth_es test": "db1e85202ada0a39dfa962c695c0b7f91dff75e3e7eb304e72ab71cd17f14a6b",
    "ud_voice_es test": "984260f2955b62cc12b3972f31f1fd03a261d7f29bb8a1d61d8681fa18813d7a",
    "ud_word_content_es test": "9323f0883a11cb12c1146c81d9b18801ac241f8c851775f4bbf6159fe85e65ab",
    "wc test": "1ce45df72692a9c5a955624d1732cd909527f28795af0d716759a60baf083dc4",
}


def test_the_report_has_every_dataset_and_encoder(project: Path) -> None:
    reports = project / "reports"
    report = (reports / "report.md").read_text("utf-8")
    params = yaml.safe_load((project / "params.yaml").read_text("utf-8"))
    corpora = params["corpora"].values()
    names = {name for corpus in corpora for name in corpus.get("datasets", {})}
    names |= set(params["rankings"])
    assert {name for name in names if name not in report} == set()
    scores = {
        (one["dataset"], one["encoder"]): one["score"]
        for one in json.loads((reports / "scores.json").read_text("utf-8"))
    }
    assert {dataset.split()[0] for dataset, _ in scores} == names
    assert len(scores) == len({dataset for dataset, _ in scores}) * len(params["encoders"])
    assert all(-1 <= score <= 1 for score in scores.values())
    assert scores["evalrank_es mrr cosine", "use_multilingual"] > 0.8
    assert scores["paralex_es suggestion shared lower", "use_multilingual"] > 0.2
    metrics = json.loads((reports / "metrics.json").read_text("utf-8"))
    assert {"spanish_senteval", "spanish_discoeval", "discoeval"} <= metrics.keys()
    for means in metrics.values():
        assert set(means) == set(params["encoders"])
    made = {path.relative_to(reports).as_posix() for path in reports.rglob("*") if path.is_file()}
    figures = {"figures/scores.png", "figures/scores.svg"}
    pages = {"index.html", "report.md", "tables.tex"}
    assert made == figures | pages | {"metrics.json", "scores.json"}


def test_every_gate_is_met(project: Path) -> None:
    report = json.loads((project / "data" / "audit" / "audit.json").read_text("utf-8"))
    assert len(report["datasets"]) == 66
    for kind in ("failures", "undeclared"):
        assert {n: f[kind] for n, f in report["datasets"].items() if f[kind]} == {}
    for path in (project / "data" / "left_out").iterdir():
        assert path.read_text("utf-8") == "{}\n", path.name


@pytest.fixture(scope="module")
def entry() -> dict[str, Any]:
    """Return the domain of one's own that the README adds to `corpora`."""
    (text,) = [b.text for b in blocks("yaml", page="README.md") if "recipe: jsonl" in b.text]
    found: dict[str, Any] = yaml.safe_load(text)["corpora"]
    return found


@pytest.fixture(scope="module")
def changed(
    project: Path, entry: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """Return a copy in which `probeta repro` has run again, and what that said.

    With a new domain, without a declaration for source data, after an interruption that has lost
    an output, and with one encoder, as a second one would tell nothing more.
    """
    folder = tmp_path_factory.mktemp("changed") / "probeta"
    shutil.copytree(project, folder, symlinks=True)
    params = yaml.safe_load((folder / "params.yaml").read_text("utf-8"))
    params["corpora"] |= entry
    declared = {gate: {"at_most": 1, "because": "It is so."} for gate in ("leakage", "text")}
    params["audit"] = {"inherited": {"paws_es": declared}}
    del params["encoders"]["use_multilingual"]
    (folder / "params.yaml").write_text(yaml.safe_dump(params, allow_unicode=True), "utf-8")
    shutil.rmtree(folder / "data" / "instances" / "corpora" / "theses")
    done = run("probeta repro", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def test_a_new_domain_costs_what_it_adds(
    project: Path, changed: tuple[Path, str], entry: dict[str, Any]
) -> None:
    folder, _ = changed
    ((name, own),) = entry.items()
    before = entries_made(project)
    made = {entry for entry, time in entries_made(folder).items() if time != before.get(entry)}
    new = {"report/all", "package/all", "audit/all", "build/theses"}
    new |= {f"{stage}/{name}" for stage in ("read", "build")}
    new |= {f"{stage}/char_hash" for stage in ("embed", "probe", "rank", "paradigms")}
    parts = ("measured", "tokens", "probed/char_hash")
    new |= {f"{part}/{dataset}" for part in parts for dataset in own["datasets"]}
    # The samples lie elsewhere; and what is kept of rankings and paradigms is written anew.
    assert {entry for entry in made if not entry.startswith(("fetch", "ranked", "comp"))} == new
    rows, after = digests(project), digests(folder)
    assert {key: after[key] for key in rows} == rows
    assert {config for config, _ in after} - {config for config, _ in rows} == {*own["datasets"]}


def test_a_second_run_has_nothing_to_do(changed: tuple[Path, str]) -> None:
    folder, _ = changed
    before = entries_made(folder)
    assert run("probeta repro", folder).returncode == 0
    assert entries_made(folder) == before


def test_an_undeclared_miss_of_source_data_is_shown(changed: tuple[Path, str]) -> None:
    folder, said = changed
    title = "paws_es, gate 9. Documents and trees kept whole: documents in two splits"
    assert said.count(title) == 1
    assert "      documents: {at_most: 0." in said
    strict = run("probeta audit --strict", folder)
    assert strict.returncode == 1
    assert f"\n    {title}" in strict.stderr


def test_an_edited_file_is_read_again(changed: tuple[Path, str], entry: dict[str, Any]) -> None:
    folder, _ = changed
    (name,) = entry
    own = folder / entry[name]["corpus"]["path"]
    edited = own.with_name("edited")
    edited.write_text("".join(own.read_text("utf-8").splitlines(keepends=True)[1:]), "utf-8")
    edited.replace(own)
    before = entries_made(folder)
    assert run("probeta read", folder).returncode == 0
    made = {entry for entry, time in entries_made(folder).items() if time != before[entry]}
    assert made == {f"fetch/{name}", f"read/{name}"}
