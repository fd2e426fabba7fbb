"""The card of a rebuilt set: what it is, how common libraries read it, and under which terms."""

from collections.abc import Mapping
from typing import Any

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.corpora.spec import AGREEMENT

_READING = """\
## Reading it

Below, `rebuilt` is this folder. The clips are in `rebuilt/data`, which has no other files, so that libraries open it as
one table. `audio` is a 16-bit FLAC file of 16 kHz mono speech, `label` the class index, `label_name` the class.

With `datasets`, without an audio decoder:

```python
import io
import soundfile
from datasets import load_dataset

clips = load_dataset("rebuilt", split="test")
samples, rate = soundfile.read(io.BytesIO(clips[0]["audio"]["bytes"]), dtype="float32")
print(clips[0]["clip_id"], clips[0]["label_name"], len(samples) / rate)
```

With `datasets` and `torchcodec`, rows decode themselves:

```python
from datasets import Audio, load_dataset

clips = load_dataset("rebuilt", split="test").cast_column("audio", Audio(sampling_rate=16_000))
print(clips[0]["audio"]["array"].shape)
```

With pandas:

```python
import pandas as pd

clips = pd.read_parquet("rebuilt/data")
print(clips.groupby("label_name").size())
```

With a torch `DataLoader`, which pads the clips of a batch:

```python
import io
import soundfile
import torch
from datasets import load_dataset

def collate(rows):
    waves = [torch.from_numpy(soundfile.read(io.BytesIO(row["audio"]["bytes"]), dtype="float32")[0]) for row in rows]
    lengths = torch.tensor([len(wave) for wave in waves])
    labels = torch.tensor([row["label"] for row in rows])
    return torch.nn.utils.rnn.pad_sequence(waves, batch_first=True), lengths, labels

clips = load_dataset("rebuilt", split="test")
for waves, lengths, labels in torch.utils.data.DataLoader(clips, batch_size=8, collate_fn=collate):
    print(waves.shape, labels)
```

With polars `pl.scan_parquet("rebuilt/data")`; with DuckDB `select * from 'rebuilt/data/*.parquet'`.
"""


def card(report: Mapping[str, Any], data_files: str | None) -> str:
    """The set's ``README.md``.

    Args:
        report: Content of ``report.json``.
        data_files: Pattern of the files that ``datasets`` reads, or None where it finds them by itself.
    """
    head = ["---", "pretty_name: rebuilt oruk-bench evaluation clips", "task_categories: [audio-classification]"]
    if data_files is not None:
        # `datasets` caches a local folder under its name and the text of its configs, not under its files: without
        # the digest there, two sets in folders of one name would be taken for one another.
        made = f"digest {report['digest']}, manifest {report['manifest']['version']}, package {report['package']}"
        head += ["configs:", "- config_name: default", f'  description: "{made}"']
        head += ["  data_files:", "  - split: test", f'    path: "{data_files}"']
    terms = [
        f"| {corpus} | {facts['clips']} | {facts['licence']} | {AGREEMENT[facts['agreement_required']]} |"
        for corpus, facts in report["corpora"].items()
        if facts["clips"]
    ]
    return "\n".join(
        [
            *head,
            "---",
            "# Rebuilt evaluation clips",
            "",
            f"{report['clips']} clips of 16 kHz mono speech with one of seven classes ({', '.join(CLASSES)}),",
            f"rebuilt by oruk-bench-leaderboard {report['package']}, audio rule {report['audio_rule']}, manifest "
            f"{report['manifest']['version']}.",
            "This set is equivalent to the original evaluation set; it is not the same set.",
            "The recordings belong to the corpora; do not pass them on.",
            "",
            f"Digest: `{report['digest']}`",
            "",
            *([_READING] if data_files is not None else []),
            "## Terms",
            "",
            "| corpus | clips | licence | agreement |",
            "|:--|--:|:--|:--|",
            *terms,
            "",
        ]
    )
