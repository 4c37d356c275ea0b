"""Measures encoding with all layers of a transformer against one layer, and the memory it takes.

    python tests/bench/bench_layers.py [texts] [repetitions]

Needs the extra ``torch``. The model is a BERT-base with random weights (12 layers of 768, of which
nothing is downloaded). Prints the seconds of the last layer alone and of all 13 with their mean,
the best of the repetitions, taken in turn in one process; their ratio (on a busy machine believe
that of CPU time); and the peak of memory above the loaded model: for sentences (30 tokens on
average), and for the longest texts, of 512 tokens.
"""

import os
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from evaluation.encoders import make_encoder

os.environ["HF_HUB_OFFLINE"] = "1"
SYLLABLES = [c + v for c in "bcdfglmnprstv" for v in "aeiou"]


def main(count: int = 128, repetitions: int = 3) -> None:
    """Run the benchmark."""
    generator = random.Random(1)
    sentences = [_text(generator, generator.randint(10, 46)) for _ in range(count)]
    long = [_text(generator, 510) for _ in range(12)]
    with TemporaryDirectory() as folder:
        _write_model(Path(folder))
        for what, texts, times in [("sentences", sentences, repetitions), ("longest", long, 1)]:
            seconds: dict[str, list[float]] = {"12": [], "all": []}
            cpu: dict[str, list[float]] = {"12": [], "all": []}
            memory = dict.fromkeys(seconds, 0.0)
            for _ in range(times):
                for layer in seconds:
                    encoder = make_encoder(
                        "bench", {"encoder": "transformers", "model": folder, "layer": layer}
                    )
                    encoder.encode(texts[:1])
                    before = _memory("VmRSS")
                    # Since Linux 4.0: the peak starts anew from here.
                    Path("/proc/self/clear_refs").write_text("5", "ascii")
                    start, used = perf_counter(), process_time()
                    encoder.encode(texts)
                    seconds[layer].append(perf_counter() - start)
                    cpu[layer].append(process_time() - used)
                    memory[layer] = max(memory[layer], _memory("VmHWM") - before)
            for layer, own in seconds.items():
                print(
                    f"{what}, layer {layer}: {min(own):.2f} s ({min(cpu[layer]):.2f} s of CPU) for "
                    f"{len(texts)} texts, "
                    f"{memory[layer]:.2f} GB above the model"
                )
            print(
                f"{what}, all / one: {min(seconds['all']) / min(seconds['12']):.2f} "
                f"({min(cpu['all']) / min(cpu['12']):.2f} of CPU)"
            )


def _text(generator: random.Random, tokens: int) -> str:
    return " ".join(generator.choices(SYLLABLES, k=tokens))


def _memory(key: str) -> float:
    """Return a line of the process's status, in GB."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1e6


def _write_model(folder: Path) -> None:
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer, logging

    logging.disable_progress_bar()
    torch.manual_seed(1)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *SYLLABLES]
    BertModel(BertConfig(vocab_size=31002)).save_pretrained(folder)
    BertTokenizer(vocab={word: number for number, word in enumerate(words)}).save_pretrained(folder)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
