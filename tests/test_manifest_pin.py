"""manifest pin: rows are completed, statements are written and compared, and nothing that is pinned changes."""

import json
import re
from dataclasses import replace

import pytest

from oruk_leaderboard.audio import pcm_digest, render, source_digest
from oruk_leaderboard.cli import main
from oruk_leaderboard.corpora import find_corpora
from oruk_leaderboard.errors import ManifestError
from oruk_leaderboard.manifest import Manifest, ManifestRow, validate
from oruk_leaderboard.manifest.files import csv_texts, write_manifest, write_parquet
from oruk_leaderboard.manifest.pin import pin
from oruk_leaderboard.manifest.statement import check_statement, make_statement, read_statement
from oruk_leaderboard.manifest.witnesses import Witness, read_witnesses, seen_by_two, table_digest, table_of
from tests.copies import flip, make_root, pinned
from tests.sounds import write_voice

EMOVO = ("emovo/dis-f1-b1", "emovo/dis-f1-b2", "emovo/gio-m2-b1", "emovo/gio-m2-b2")


@pytest.fixture
def manifest():
    """Four clips of EMOVO, the first with the digest of a file that nobody has."""
    rows = [ManifestRow(name, "emovo", f"{name[10:12]}/{name[6:]}.wav") for name in EMOVO]
    rows[0] = replace(rows[0], source_sha256="e" * 64, source_bytes=7)
    return Manifest.of(rows, {})


def test_pin_fills_only_what_is_unpinned(manifest, tmp_path, capsys):
    root, out = tmp_path / "copy", tmp_path / "data" / "manifest"
    write_manifest(manifest, out, beside={})
    for speaker, name in (("f1", "dis-f1-b1"), ("f1", "dis-f1-b2"), ("m2", "gio-m2-b1")):
        write_voice(root / speaker / f"{name}.wav", 0.3, 48_000, 2, seed=len(name) + ord(name[-1]))
    write_voice(root / "m2" / "gio-m2-b2.flac", 0.3, 48_000, 2)
    options = ["--root", str(root), "--manifest", str(out), "--json"]
    assert main(["manifest", "pin", *options]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["pinned"] == 2
    assert {problem["where"]: problem["reason"].split(":")[0] for problem in document["problems"]} == {
        "emovo/dis-f1-b1": "differs",
        "emovo/gio-m2-b2": "not pinned",
    }
    patch = document["patch"]
    assert patch.startswith("--- a/data/manifest/emovo.csv\n+++ b/data/manifest/emovo.csv\n")
    pinned = pin(find_corpora(root), manifest)
    before, after = csv_texts(manifest)["emovo.csv"], csv_texts(pinned.after)["emovo.csv"]
    changed = {old: new for old, new in zip(before.splitlines(), after.splitlines(), strict=True) if old != new}
    signs = [line for line in patch.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert sorted(signs) == sorted([*(f"-{old}" for old in changed), *(f"+{new}" for new in changed.values())])
    (row,) = [row for row in pinned.rows if row.clip_id == "emovo/dis-f1-b2"]
    sha256, size = source_digest(root / "f1" / "dis-f1-b2.wav")
    rendered = render(root / "f1" / "dis-f1-b2.wav")
    assert (row.source_sha256, row.source_bytes) == (sha256, size)
    assert row.pcm_sha256 == pcm_digest(root / "f1" / "dis-f1-b2.wav").pcm_sha256
    assert (row.clip_sha256, row.clip_num_samples) == (rendered.clip_sha256, len(rendered.samples))
    assert (row.num_samples, row.sampling_rate, row.channels) == (14_400, 48_000, 2)
    again = validate(find_corpora(root), pinned.after)
    assert {state.state for state in again.states if state.clip_id in {row.clip_id for row in pinned.rows}} == {"exact"}


def test_pin_of_a_lossy_recording_names_the_file_only(tmp_path):
    write_voice(tmp_path / "AudioMP3" / "1001_DFA_ANG_XX.mp3", 0.5)
    row = ManifestRow("crema_d/1001_DFA_ANG_XX", "crema_d", "AudioMP3/1001_DFA_ANG_XX.mp3", label="anger", open=True)
    (filled,) = pin(find_corpora(tmp_path), Manifest.of([row], {})).rows
    assert filled.source_sha256 and filled.sampling_rate == 16_000
    assert filled.pcm_sha256 is filled.clip_sha256 is filled.num_samples is None


def test_pin_completes_rows_and_overwrites_nothing(tmp_path):
    root = make_root(tmp_path)
    full = pinned(root, without_pcm=(), restricted=())
    bare = [replace(row, pcm_sha256=None, num_samples=None, channels=None) for row in full.rows]
    bare[0] = replace(bare[0], sampling_rate=44_100)
    before = Manifest.of(bare, {})
    result = pin(find_corpora(root), before)
    assert {row.clip_id for row in result.rows} == {row.clip_id for row in bare[1:]}
    for row, whole in zip(result.after.rows[1:], full.rows[1:], strict=True):
        assert replace(row, clip_sha256=None, clip_num_samples=None) == whole
        assert row.clip_sha256 == render(root / whole.media).clip_sha256
    assert result.after.rows[0] == bare[0]
    (problem,) = result.problems
    assert problem.where == bare[0].clip_id and problem.reason.startswith(
        "differs: sampling_rate is 16000, pinned 44100"
    )
    assert pin(find_corpora(root), result.after).rows == []


def test_a_statement_goes_the_whole_way(tmp_path, capsys):
    root = make_root(tmp_path)
    full = pinned(root)
    bare = Manifest.of([ManifestRow(row.clip_id, row.corpus, row.media) for row in full.rows], {})
    write_parquet(bare, tmp_path / "bare.parquet")
    out = tmp_path / "said.json"
    assert (
        main(["manifest", "pin", "--root", str(root), "--manifest", str(tmp_path / "bare.parquet"), "--out", str(out)])
        == 0
    )
    assert str(out) in capsys.readouterr().out
    text = out.read_text()
    for secret in ("/", *{row.label for row in full.rows if row.label}):
        assert secret not in re.sub(r'"(?:crema_d|emovo|ravdess)/[^"/]+"', "", text), secret
    check = ["manifest", "pin", "--check", str(out), "--manifest"]
    assert main([*check, str(tmp_path / "bare.parquet"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["totals"] == {"crema_d": {"adds": 3}, "emovo": {"adds": 3}, "ravdess": {"adds": 7}}
    assert document["pinned"] == 13
    statement = read_statement(out)
    after = check_statement(statement, bare).pinned.after
    assert [row.source_sha256 for row in after.rows] == [row.source_sha256 for row in full.rows]
    assert set(check_statement(statement, after).clips.values()) == {"agrees"}
    assert main([*check, str(tmp_path / "bare.parquet"), "--patch"]) == 0
    assert capsys.readouterr().out.startswith("--- a/data/manifest/crema_d.csv")


def test_another_release_is_shown_as_one(tmp_path, capsys):
    root = make_root(tmp_path)
    full = pinned(root)
    write_parquet(full, tmp_path / "full.parquet")
    for path in (root / "EMOVO").rglob("*.wav"):
        flip(path)
    statement, problems = make_statement(find_corpora(root), full)
    assert problems == []
    (tmp_path / "said.json").write_text(statement.text())
    agreement = check_statement(read_statement(tmp_path / "said.json"), full)
    assert agreement.totals == {"crema_d": {"adds": 3}, "emovo": {"differs": 3}, "ravdess": {"adds": 7}}
    theirs = {name: columns["source_sha256"] for name, columns in statement.clips.items() if name.startswith("emovo")}
    assert agreement.tables == {"emovo": table_digest(theirs)} and not agreement.clean
    assert agreement.pinned.after.of_corpora("emovo") == full.of_corpora("emovo")
    options = ["--check", str(tmp_path / "said.json"), "--manifest", str(tmp_path / "full.parquet")]
    assert main(["manifest", "pin", *options]) == 1
    assert "emovo: another release than the pinned one" in capsys.readouterr().out
    assert main(["manifest", "pin", *options, "--root", str(root)]) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda said: said.update(statement=2), '"statement": 1'),
        (lambda said: said.pop("corpora"), "objects corpora"),
        (lambda said: said["clips"].update({"a/b": {}}), "source_sha256 for a/b"),
        (lambda said: said["clips"].update({"a/b": {"source_sha256": "AB" * 32}}), "a/b source_sha256"),
        (lambda said: said["clips"]["emovo/dis-f1-b1"].update(channels=True), "channels"),
        (lambda said: said["clips"]["emovo/dis-f1-b1"].update(media="x.wav"), "media"),
    ],
)
def test_what_is_not_a_statement_is_refused(tmp_path, manifest, change, message):
    write_voice(tmp_path / "f1" / "dis-f1-b1.wav", 0.3, 48_000)
    said = json.loads(make_statement(find_corpora(tmp_path), manifest)[0].text())
    change(said)
    (tmp_path / "said.json").write_text(json.dumps(said))
    with pytest.raises(ManifestError, match=re.escape(message)):
        read_statement(tmp_path / "said.json")
    (tmp_path / "said.json").write_text("[")
    with pytest.raises(ManifestError, match="cannot be read"):
        read_statement(tmp_path / "said.json")


def test_witnesses_of_one_table_are_counted():
    rows = [ManifestRow(f"a/{n}", "a", source_sha256=str(n) * 64) for n in range(3)]
    table = table_of([*rows, ManifestRow("a/x", "a")])
    assert table == table_digest({"a/2": "2" * 64, "a/0": "0" * 64, "a/1": "1" * 64})

    def witness(clips, digest=table):
        return Witness("a", digest, clips, "third-party copy", "somewhere")

    assert seen_by_two([], table, 3) == seen_by_two([witness(3)], table, 3) == 0
    assert seen_by_two([witness(3), witness(3, "0" * 64)], table, 3) == 0
    assert seen_by_two([witness(3), witness(2)], table, 3) == 2
    assert seen_by_two([witness(2), witness(1)], table, 3) == 0
    assert seen_by_two([witness(2), witness(2)], table, 3) == 1
    assert seen_by_two([witness(1), witness(3), witness(3)], table, 3) == 3


def test_a_wrong_line_of_witnesses_is_named(tmp_path):
    head = "corpus\ttable_sha256\tclips\tkind\treference\n"
    path = tmp_path / "WITNESSES.tsv"
    path.write_text(head + "a\t0\t1\thearsay\tx\n")
    with pytest.raises(ManifestError, match=r"WITNESSES\.tsv:2"):
        read_witnesses(path)
    path.write_text("corpus\n")
    with pytest.raises(ManifestError, match="wrong columns"):
        read_witnesses(path)
