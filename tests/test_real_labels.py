"""Readers on the real label files that are public: on demand, since they cannot be part of this repository.

``ORUK_LABELS=DIR pytest tests/test_real_labels.py``, where ``DIR/<corpus id>`` has the label files of a corpus as its
repository has them, without audio (``nnime`` is recognised by its recordings too: empty files of their names will do).
Run so far on ``meld`` and ``emorynlp`` (github declare-lab/MELD, ``data/MELD`` and ``data/emorynlp``) and ``nnime``
(github EMOsuperb/EMO-SUPERB-submission, ``data/NNIME``).
"""

import os
from pathlib import Path

import pytest

from oruk_leaderboard.corpora import find_corpora
from oruk_leaderboard.corpora.rows import clips
from oruk_leaderboard.manifest import labels_digest, load_manifest

FOLDER = os.environ.get("ORUK_LABELS")
FOLDERS = sorted(path for path in Path(FOLDER).iterdir() if path.is_dir()) if FOLDER else []


@pytest.mark.skipif(not FOLDERS, reason="no folder of real label files: set ORUK_LABELS")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_pinned_clip_is_in_the_official_label_file_with_its_label(folder: Path) -> None:
    found = next(found for found in find_corpora(folder) if found.spec.id == folder.name)
    read = clips(found)
    labels = {clip.clip_id: clip.label for clip in [*read.clips, *read.missing]}
    manifest = load_manifest()
    rows = manifest.of_corpora(folder.name)
    assert rows and read.problems == []
    assert [row.clip_id for row in rows if row.clip_id not in labels] == []
    assert [row.clip_id for row in rows if row.label is not None and labels[row.clip_id] != row.label] == []
    if folder.name in manifest.label_digests:
        pinned = {row.clip_id: str(labels[row.clip_id]) for row in rows}
        assert labels_digest(pinned) == manifest.label_digests[folder.name]
