"""What ``run`` adds to a model, to an endpoint and to memory.

    python -m benchmarks.run [--clips 300] [--many 64384] [--few 1000] [--calls 1600]

Everything is made on the spot: clips of noise, random checkpoints of wav2vec 2.0, an endpoint on this machine. Four
parts, each a ratio of two sides that took turns in one run:

- ``run`` beside a plain loop of transformers' ``pipeline`` over the same clips, which decodes, asks and keeps the
  scores, at batch size 1 and 8 (CPU time, one thread; targets: at least 0.95 and 1.0 of its speed);
- ``run`` beside decoding the same clips and asking the same tiny model (CPU time; target: at most 5 % more);
- an endpoint that takes 200 ms, with 32 calls in flight (clock; target: at least 0.9 of clips x 200 ms / 32);
- peak memory of the whole process over 64,384 clips and over 1,000 (target: at most 10 % more).
"""

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from benchmarks.scoring import LAUNCHER
from benchmarks.sides import best
from oruk_leaderboard.audio.stored import decode_stored
from oruk_leaderboard.classes import CLASSES, SAMPLE_RATE
from oruk_leaderboard.clipset import open_clipset
from oruk_leaderboard.reconstruction import reconstruct
from oruk_leaderboard.systems import get_system, load_system
from oruk_leaderboard.systems.base import Item, Options
from oruk_leaderboard.systems.runner import run

CORPUS = """
id = "noise"
name = "Noise"
languages = ["en"]
elicitation = "acted"
citation = "@misc{noise, title={Noise}}"
licence = { name = "CC0", agreement_required = false }
[files]
name = '(?P<native_label>[a-z]+)_(?P<number>\\d+)'
suffixes = [".wav"]
[clip]
id = "{stem}"
media = "{stem}.wav"
speaker = "{number}"
[labels]
"""


def made_set(folder: Path, count: int, *, seconds: tuple[float, float]) -> Path:
    """A rebuilt set of noise."""
    rng = np.random.default_rng(0)
    corpus, toml = folder / "corpus", folder / "noise.toml"
    corpus.mkdir(parents=True)
    toml.write_text(CORPUS + "".join(f'{name} = "{name}"\n' for name in CLASSES), encoding="utf-8")
    for number in range(count):
        size = int(rng.uniform(*seconds) * SAMPLE_RATE)
        samples = rng.integers(-3_000, 3_000, size).astype(np.int16)
        soundfile.write(corpus / f"{CLASSES[number % 7]}_{number:06d}.wav", samples, SAMPLE_RATE)
    reconstruct(corpora={str(toml): str(corpus)}, out=folder / "set", all_clips=True)
    shutil.rmtree(corpus)
    return folder / "set"


def made_checkpoint(folder: Path, *, hidden: int, layers: int) -> Path:
    """A random wav2vec 2.0 checkpoint with the usual convolutions; gives its card."""
    import transformers

    labels = {0: "ang", 1: "hap", 2: "neu", 3: "sad"}
    config = transformers.Wav2Vec2Config(
        hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=4, intermediate_size=2 * hidden,
        conv_dim=(hidden,) * 7, feat_extract_norm="layer", do_stable_layer_norm=True, id2label=labels,
        num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, classifier_proj_size=hidden,
    )  # fmt: skip
    transformers.Wav2Vec2ForSequenceClassification(config).save_pretrained(folder)
    transformers.Wav2Vec2FeatureExtractor(return_attention_mask=True).save_pretrained(folder)
    card = folder.with_suffix(".toml")
    card.write_text(
        f'name = "made"\nfamily = "open"\nadapter = "transformers"\nsource = "made here"\nmodel_id = "{folder}"\n',
        encoding="utf-8",
    )
    return card


def fresh(clips: Path, card: Path | str, options: Options) -> None:
    """A run from its beginning."""
    with tempfile.TemporaryDirectory() as folder:
        run(str(card), clips=clips, out=Path(folder) / "p.csv", options=options)


def waves(clips: Path) -> Iterator[tuple[str, Any]]:
    """Every clip of a set, decoded and checked."""
    opened = open_clipset(clips)
    names = (opened.table.column(name).to_pylist() for name in ("clip_id", "clip_sha256"))
    digests = dict(zip(*names, strict=True))
    for clip_id, flac in opened.recordings():
        yield clip_id, decode_stored(flac, clip_sha256=digests[clip_id], where=clip_id)


def beside_pipeline(folder: Path, clips: Path) -> None:
    """Speed of a run beside a loop of ``pipeline``."""
    import transformers

    card = made_checkpoint(folder / "model", hidden=128, layers=4)

    def pipeline(size: int) -> list[Any]:
        asked = transformers.pipeline("audio-classification", model=str(folder / "model"))
        inputs = ({"raw": wave, "sampling_rate": SAMPLE_RATE} for _, wave in waves(clips))
        return list(asked(inputs, batch_size=size, top_k=None))

    for size, target in ((1, 0.95), (8, 1.0)):
        ours, theirs = best(partial(fresh, clips, card, Options(batch_size=size)), partial(pipeline, size))
        report(f"batch size {size}, times the speed of pipeline", theirs.cpu / ours.cpu, target, least=True)


def own_cost(folder: Path, clips: Path) -> None:
    """CPU time of a run beside decoding and the model."""
    card = made_checkpoint(folder / "tiny", hidden=64, layers=2)
    options = Options(batch_size=1)

    def bare() -> None:
        system = load_system(get_system(str(card)), options)
        for clip_id, wave in waves(clips):
            system.predict([Item(clip_id, wave)])

    ours, theirs = best(partial(fresh, clips, card, options), bare)
    report("own cost beside a tiny model and decoding", ours.cpu / theirs.cpu - 1, 0.05, least=False)


DELAY, CONCURRENCY = 0.2, 32


class Slow(BaseHTTPRequestHandler):
    """An endpoint that answers after ``DELAY`` seconds and keeps connections open."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else header and body wait for each other, 40 ms per answer

    def do_POST(self) -> None:
        """Answer a chat completion."""
        self.rfile.read(int(self.headers["content-length"]))
        time.sleep(DELAY)
        choice = {"message": {"role": "assistant", "content": "sad"}, "finish_reason": "stop"}
        data = json.dumps({"id": "1", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def serve(ports: "multiprocessing.Queue[int]") -> None:
    """Run the endpoint, in a process of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    ports.put(server.server_address[1])
    server.serve_forever()


def endpoint(clips: Path, count: int) -> None:
    """Clips per second of a slow endpoint."""
    context = multiprocessing.get_context("spawn")
    ports: Any = context.Queue()
    server = context.Process(target=serve, args=(ports,), daemon=True)
    server.start()
    options = Options(endpoint=f"http://127.0.0.1:{ports.get()}/v1", concurrency=CONCURRENCY)
    (ours,) = best(partial(fresh, clips, "audiollm-voxtral-mini-3b", options))
    server.terminate()
    report(
        f"{DELAY * 1000:.0f} ms endpoint, share of the ideal", count * DELAY / CONCURRENCY / ours.wall, 0.9, least=True
    )


def memory(folder: Path, sizes: tuple[int, int]) -> None:
    """Peak memory of whole processes over two sizes."""
    peaks = []
    for size in sizes:
        clips = made_set(folder / f"of {size}", size, seconds=(0.1, 0.2))
        code = "import sys; from oruk_leaderboard.cli import main; sys.exit(main())"
        command = ["-c", code, "run", "baseline-loudness", "--clips", str(clips), "--out", str(folder / f"{size}.csv")]
        done = subprocess.run([sys.executable, "-c", LAUNCHER, *command], capture_output=True, check=True)
        wall, _, peak, code = json.loads(done.stdout)
        print(f"{size:,} clips: {peak} MiB, {wall:.1f} s, exit {code}", flush=True)
        peaks.append(peak)
    report(f"peak memory, {sizes[0]:,} clips beside {sizes[1]:,}", peaks[0] / peaks[1], 1.1, least=False)


def report(what: str, ratio: float, target: float, *, least: bool) -> None:
    """Print one ratio beside its target."""
    kept = ratio >= target if least else ratio <= target
    bound = "at least" if least else "at most"
    print(f"{what}: {ratio:.3f} (target: {bound} {target:g}; {'kept' if kept else 'MISSED'})", flush=True)


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=300, help="clips of the parts with a model")
    parser.add_argument("--calls", type=int, default=1_600, help="clips of the endpoint's part")
    parser.add_argument("--many", type=int, default=64_384, help="clips of the larger set")
    parser.add_argument("--few", type=int, default=1_000, help="clips of the smaller set")
    options = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        clips = made_set(folder / "speech", options.clips, seconds=(1, 4))
        beside_pipeline(folder, clips)
        own_cost(folder, clips)
        endpoint(made_set(folder / "calls", options.calls, seconds=(1, 4)), options.calls)
        memory(folder, (options.many, options.few))


if __name__ == "__main__":
    main()
