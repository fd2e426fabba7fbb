"""Specs and cards that would fail later or break a terminal: each is refused at once, in one short line."""

from pathlib import Path

import pytest

from oruk_leaderboard.cli import main
from oruk_leaderboard.systems import get_system

SPEC = r"""
id = "mine"
name = "Mine"
languages = ["de"]
elicitation = "acted"
citation = "@misc{mine, title={Mine}}"
licence = { name = "CC0", agreement_required = false }
[files]
name = '(?P<native_label>[a-z]+)_(?P<number>\d+)'
[clip]
id = "{stem}"
media = "{stem}.wav"
[labels]
anger = "anger"
[example]
clips = [{ clip_id = "mine/anger_1", label = "anger" }]
[example.tree]
"anger_1.wav" = "noise"
"""
ID, MEDIA, NAME = 'id = "{stem}"', 'media = "{stem}.wav"', 'name = "Mine"'

TOO_MUCH = [
    pytest.param(NAME, "\n".join([NAME, *(f"k{number} = 1" for number in range(20_000))]), "k0", id="unknown keys"),
    pytest.param(NAME, f"{NAME}\nx = {'[' * 5_000}{']' * 5_000}", "nested too deeply", id="nested arrays"),
    pytest.param(NAME, f"{NAME}\n{'.'.join(['a'] * 5_000)} = 1", "nested more than 100 deep", id="nested tables"),
    pytest.param(NAME, f"{NAME}\nn_clips = {'9' * 100_000}", "more than 4,300 digits", id="digits"),
]


def spec(folder: Path, old: str = "", new: str = "") -> Path:
    path = folder / "mine.toml"
    path.write_text(SPEC.replace(old, new, 1) if old else SPEC, encoding="utf-8")
    return path


def test_a_sound_spec_passes(tmp_path: Path) -> None:
    assert main(["corpora", "check", str(spec(tmp_path))]) == 0


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (MEDIA, 'media = "../{stem}.wav"', "leaves its folder"),
        (MEDIA, 'media = ["{stem}.wav", "a/../../{stem}.wav"]', "leaves its folder"),
        (MEDIA, 'media = "/etc/{stem}.wav"', "absolute path"),
        (MEDIA, 'media = "C:/{stem}.wav"', "absolute path"),
        (MEDIA, r'media = "audio\\{stem}.wav"', "a backslash"),
        (MEDIA, 'media = "https://example.org/{stem}.wav"', "a URL"),
        (MEDIA, r'media = "a\u0007{stem}.wav"', "a control character"),
        (ID, 'id = "../{stem}"', "leaves its folder"),
        (ID, 'id = { of = "{stem}", "../a" = "*" }', "leaves its folder"),
        (ID, 'id = "/{stem}"', "absolute path"),
        (ID, r'id = "{stem}\u202e"', "a control character"),
        (ID, f'id = "{"a" * 1_000_000}{{stem}}"', "longer than 300 characters"),
        ('id = "mine"', f'id = "{"a" * 1_000_000}"', "key id"),
        *TOO_MUCH,
    ],
)
def test_a_spec_that_would_fail_later(
    old: str, new: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpora", "check", str(spec(tmp_path, old, new))]) == 2
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1 and len(error) < 1_500


def test_a_spec_without_a_citation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spec(tmp_path, 'citation = "@misc{mine, title={Mine}}"\n', "")
    assert main(["corpora", "check", str(path)]) == 1
    assert "no citation" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["score", "run"])
@pytest.mark.parametrize(("old", "new", "reason"), TOO_MUCH)
def test_a_system_card_of_that_kind(
    verb: str, old: str, new: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    card = get_system("baseline-majority")
    path = tmp_path / "card.toml"
    path.write_text(f'{NAME}\nfamily = "{card.family}"\n'.replace(old, new), encoding="utf-8")
    (tmp_path / "p.csv").write_text("clip_id,label\na/1,anger\na/2,fear\n")
    arguments = {
        "score": [str(tmp_path / "p.csv"), "--gold", str(tmp_path / "p.csv"), "--system", str(path)],
        "run": [str(path), "--clips", str(tmp_path), "--out", str(tmp_path / "out.csv")],
    }
    assert main([verb, *arguments[verb]]) == 2
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1 and len(error) < 1_500
