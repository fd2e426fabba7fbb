"""A user's own code as a system: every form it may have, what it may answer, and what decides its answers."""

import sys
from pathlib import Path

import numpy as np
import pytest

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.systems import get_system, load_system, read_card
from oruk_leaderboard.systems.base import Item, Options
from tests.made_corpora import mixed, rebuild, spec

WAVE = np.zeros(100, np.float32)
ITEMS = [Item(f"c/{at}", WAVE, "c") for at in range(3)]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes a module of its own name and loads ``system`` from it."""
    monkeypatch.syspath_prepend(tmp_path)
    number = iter(range(100))

    def write(text: str, **options: object):
        name = f"module_{tmp_path.name.replace('-', '_')}_{next(number)}"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return load_system(get_system(f"{name}:system"), Options(**options))

    return write


@pytest.mark.parametrize(
    "text",
    [
        "def system(wave):\n    return 'sad'\n",
        "def system(waves):\n    return ['sad'] * len(waves)\n",
        "async def system(wave):\n    return 'sad'\n",
        "async def system(batch):\n    return ['sad' for _ in batch]\n",
        "class system:\n    def __call__(self, wave):\n        return 'sad'\n",
        "class system:\n    def predict(self, waves):\n        return ['sad' for _ in waves]\n",
        "class system:\n    async def predict(self, waves):\n        return ['sad' for _ in waves]\n",
        "class Model:\n    def predict(self, waves):\n        return ['sad' for _ in waves]\nsystem = Model()\n",
        "import functools\ndef f(label, wave):\n    return label\nsystem = functools.partial(f, 'sad')\n",
        "import numpy as np\ndef system(waves):\n    return np.array(['sad'] * len(waves))\n",
    ],
)
def test_every_form_of_a_system(module, text: str) -> None:
    assert module(text).predict(ITEMS) == [Answer(raw="sad")] * 3


def test_a_class_is_made_once(module) -> None:
    system = module("made = []\nclass system:\n    def __init__(self):\n        made.append(1)\n"
                    "    def __call__(self, wave):\n        return str(len(made))\n")  # fmt: skip
    assert [answer.raw for answer in system.predict(ITEMS)] == ["1", "1", "1"]


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("None", Answer(status="abstained", reason="the function returned None")),
        ("'I hear anger.'", Answer(raw="I hear anger.")),
        ("{'angry': 0.75, 'sad': 0.25}", Answer(scores={"angry": 0.75, "sad": 0.25})),
    ],
)
def test_what_a_function_may_answer(module, value: str, answer: Answer) -> None:
    assert module(f"def system(wave):\n    return {value}\n").predict(ITEMS[:1]) == [answer]


def test_integers_count_only_in_a_declared_order(module, tmp_path: Path) -> None:
    text = "import numpy as np\ndef system(wave):\n    return np.int64(1)\n"
    with pytest.raises(OrukError, match=r'number.*found np.int64\(1\); add the line LABELS = "set"'):
        module(text).predict(ITEMS)
    assert module('LABELS = "set"\n' + text).predict(ITEMS)[0].label == "happiness"
    assert module('LABELS = ["sad", "angry"]\n' + text).predict(ITEMS)[0].label == "angry"
    with pytest.raises(OrukError, match="out of range"):
        module('LABELS = ["sad"]\n' + text).predict(ITEMS)
    with pytest.raises(OrukError, match="boolean"):
        module('LABELS = "set"\ndef system(wave):\n    return True\n').predict(ITEMS)
    with pytest.raises(OrukError, match="LABELS cannot be read"):
        module('LABELS = "order"\n' + text)
    scores = 'LABELS = ["sad", "angry"]\ndef system(wave):\n    return {0: 0.25, 1: 0.75}\n'
    assert module(scores).predict(ITEMS)[0].scores == {"sad": 0.25, "angry": 0.75}


def test_a_card_may_declare_numbers(module, tmp_path: Path) -> None:
    (tmp_path / "numbers_of_mine.py").write_text("def system(wave):\n    return 1\n")
    card = 'name = "x"\nfamily = "open"\nadapter = "python"\nmodel_id = "numbers_of_mine:system"\nsource = "y"\n'
    (tmp_path / "mine.toml").write_text(card + '[native_labels]\n0 = "sadness"\n1 = "fear"\n')
    assert load_system(read_card(tmp_path / "mine.toml")).predict(ITEMS)[0].label == "1"


def test_an_unknown_kind_of_answer_ends_the_run_first_and_fails_a_clip_later(module) -> None:
    with pytest.raises(OrukError, match=r"not an answer.*found list"):
        module("def system(wave):\n    return [0.1, 0.9]\n").predict(ITEMS)
    later = module("n = [0]\ndef system(wave):\n    n[0] += 1\n    return 'sad' if n[0] < 3 else [1]\n").predict(ITEMS)
    assert [answer.status for answer in later] == ["ok", "ok", "error"]
    with pytest.raises(OrukError, match=r"gave no list of answers.*expected 3"):
        module("def system(waves):\n    return ['sad']\n").predict(ITEMS)


def test_what_a_function_raises_is_the_failure_of_one_clip(module) -> None:
    text = "n = [0]\ndef system(wave):\n    n[0] += 1\n    if n[0] == 2:\n        raise SystemExit('bye')\n"
    answers = module(text + "    return 'sad'\n").predict(ITEMS)
    assert [answer.status for answer in answers] == ["ok", "error", "ok"]
    assert answers[1].reason == "SystemExit: bye"


@pytest.mark.parametrize("name", ["no_such_module_of_mine:f", "tests.test_systems_python:nothing"])
def test_unknown_systems_are_named(name: str) -> None:
    with pytest.raises(OrukError, match=rf"{name}.*cannot be imported"):
        load_system(get_system(name))


def test_a_module_that_ends_the_process_does_not(module) -> None:
    with pytest.raises(OrukError, match=r"cannot be imported.*SystemExit: no GPU"):
        module("raise SystemExit('no GPU')\n")


def test_a_module_in_the_current_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "module_of_this_folder.py").write_text("def answer(wave):\n    return 'anger'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in sys.path if path])
    assert load_system(get_system("module_of_this_folder:answer")).predict(ITEMS)[0].raw == "anger"


def fresh(name: str):
    for known in [known for known in sys.modules if known.startswith("identity_")]:
        del sys.modules[known]
    return load_system(get_system(f"{name}:system"))


def test_revision_is_the_module_its_local_imports_and_its_files(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "weights.bin").write_bytes(b"1")
    (tmp_path / "identity_helper.py").write_text("X = 'sad'\n")
    (tmp_path / "identity_deep.py").write_text("Y = 1\n")
    main_file = tmp_path / "identity_main.py"
    main_file.write_text(
        "import numpy\nfrom identity_helper import X\nFILES = ['weights.bin']\n"
        "def system(wave):\n    import identity_deep\n    return X\n"
    )
    first = fresh("identity_main")
    assert set(first.identity["files"]) == {"identity_main.py", "identity_helper.py", "identity_deep.py", "weights.bin"}
    assert fresh("identity_main").revision == first.revision
    for name in ("identity_helper.py", "identity_deep.py", "weights.bin", "identity_main.py"):
        path = tmp_path / name
        before = path.read_bytes()
        path.write_bytes(before + b"\n#")
        assert fresh("identity_main").revision != first.revision, name
        path.write_bytes(before)
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(OrukError, match=r"declares is missing.*weights\.bin"):
        fresh("identity_main")


def test_retrained_weights_end_a_resumed_run_and_restart_begins_anew(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    rebuild(mixed(tmp_path, 7), spec(tmp_path), tmp_path / "set", layout="parquet")
    (tmp_path / "identity_weights.txt").write_text("angry")
    (tmp_path / "identity_model.py").write_text(
        "import pathlib\nFILES = ['identity_weights.txt']\n"
        "LABEL = (pathlib.Path(__file__).parent / FILES[0]).read_text()\ndef system(wave):\n    return LABEL\n"
    )
    out = tmp_path / "p.csv"

    def run(*options: str) -> int:
        for known in [known for known in sys.modules if known.startswith("identity_")]:
            del sys.modules[known]
        command = ["run", "identity_model:system", "--clips", str(tmp_path / "set"), "--out", str(out)]
        return main([*command, *options])

    assert run() == 0 and run() == 0
    (tmp_path / "identity_weights.txt").write_text("sad")
    assert run() == 2
    assert r"identity_weights.txt" in capsys.readouterr().err
    assert run("--restart") == 0
    assert ",sadness,ok" in out.read_text() and (tmp_path / "p.csv.receipts.1.jsonl").exists()
    # Without FILES nothing says whether the weights changed: the user has to vouch for the old answers.
    text = (tmp_path / "identity_model.py").read_text()
    (tmp_path / "identity_model.py").write_text(text.replace("FILES = [", "NAMES = [").replace("FILES[", "NAMES["))
    assert run("--restart") == 0 and run() == 2
    assert "--resume" in capsys.readouterr().err
    assert run("--resume") == 0
