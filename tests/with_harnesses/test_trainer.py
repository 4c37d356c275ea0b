"""The evaluator in the trainer of sentence-transformers: its scores, and the step that is best."""

from pathlib import Path

import pytest
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

from corpora_recipes.running.errors import InputError
from probeta import compare, evaluator, score


def test_a_model_is_scored_while_it_learns(hub_folder: Path, minilm: Path) -> None:
    model = SentenceTransformer(str(minilm), device="cpu")
    pairs = Dataset.from_dict({"anchor": ["uno", "dos"] * 4, "positive": ["tres", "cuatro"] * 4})
    arguments = SentenceTransformerTrainingArguments(
        output_dir="run",
        max_steps=2,
        per_device_train_batch_size=4,
        learning_rate=0.1,
        eval_strategy="steps",
        eval_steps=1,
        save_strategy="best",
        save_only_model=True,
        metric_for_best_model="probeta_mean",
        use_cpu=True,
        report_to="none",
    )
    of_both = evaluator(hub_folder, datasets=["bso_own", "sts_own"])
    loss = MultipleNegativesRankingLoss(model)
    trainer = SentenceTransformerTrainer(model, arguments, pairs, loss=loss, evaluator=of_both)
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "eval_probeta_mean" in entry]
    now = score(model, hub_folder, datasets=["bso_own", "sts_own"])
    values = {name: now[name].value for name in ("bso_own", "sts_own")}
    assert [entry["step"] for entry in logged] == [1, 2]
    assert {name: logged[1][f"eval_probeta_{name}"] for name in values} == pytest.approx(values)
    assert logged[1]["eval_probeta_mean"] == pytest.approx(sum(values.values()) / 2)
    assert trainer.state.best_metric == max(entry["eval_probeta_mean"] for entry in logged)
    differences = compare("run/eval/probeta_2", "run/eval/probeta_1").to_dict()
    assert differences["sts_own/difference"] == pytest.approx(
        logged[1]["eval_probeta_sts_own"] - logged[0]["eval_probeta_sts_own"]
    )


def test_faults_are_told_before_training(hub_folder: Path) -> None:
    with pytest.raises(InputError, match="bso_owm"):
        evaluator(hub_folder, datasets=["bso_owm"])
    with pytest.raises(InputError, match="name"):
        evaluator(hub_folder, name="a/b")
