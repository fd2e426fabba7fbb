"""How fast clips are rebuilt, beside the plain loop and beside other libraries, in one run on one machine.

Usage: python -m benchmarks.reconstruct [--clips 1000] [--rounds 3] [--keep DIR] [--memory]

The set: clips of 3 s in six formats of public corpora (48 kHz stereo, 44.1 kHz, 24.414 kHz and 16 kHz wav, 44.1 kHz
mp3, 48 kHz flac), spoken by espeak-ng where it is installed, synthetic otherwise. The floor is the least that any tool
has to do: decode 16 s, add the channels, resample with soxr VHQ, round, hash, write FLAC. Peers that are not installed
are left out; they do the same job the way their users would write it. All contenders take turns, so that what else the
machine does hits all of them; the best round counts. Processor time is printed because it does not depend on that.

`--memory` measures the peak of a whole process instead: 64,384 short clips, and segments of a 3-hour recording.
"""

import argparse
import hashlib
import importlib.util
import io
import os
import platform
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import soundfile
import soxr

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.manifest import Manifest
from oruk_leaderboard.reconstruction import reconstruct

SECONDS = 3
KINDS = (
    (48_000, 2, "wav"),
    (44_100, 1, "wav"),
    (24_414, 1, "wav"),
    (16_000, 1, "wav"),
    (44_100, 1, "mp3"),
    (48_000, 1, "flac"),
)
WORDS = "kids are talking by the door dogs are sitting near it the airplane is almost full and tomorrow it will be cold"
VOICES = ("en", "de", "es", "fr", "it", "pl", "ru", "pt")
PIECE = 16
"""Clips a worker takes at once, as `reconstruct` does."""

SPEC = """
id = "bench"
name = "Clips of the benchmark"
languages = ["en"]
elicitation = "synthetic"
[files]
name = '(?P<native_label>[a-z]+)_(?P<number>\\d+)'
suffixes = [".wav", ".flac", ".mp3"]
[clip]
id = "{stem}"
media = "{stem}.wav"
[labels]
"""


def speech(number: int) -> tuple[np.ndarray, int]:
    """Three seconds of a voice; float64 mono, and the rate."""
    chance = random.Random(number)
    if shutil.which("espeak-ng"):
        text = " ".join(chance.choices(WORDS.split(), k=10))
        options = ["-v", chance.choice(VOICES), "-p", str(chance.randint(20, 80)), "-s", str(chance.randint(130, 200))]
        spoken = subprocess.run(["espeak-ng", *options, "--stdout", text], capture_output=True, check=True).stdout
        samples, rate = soundfile.read(io.BytesIO(spoken))
    else:
        rate = 22_050
        time_s = np.arange(SECONDS * rate) / rate
        phase = 2 * np.pi * chance.uniform(90, 250) * (time_s + 0.05 * np.sin(4 * time_s))
        samples = sum(np.sin(k * phase) / k for k in range(1, 15)) * np.abs(np.sin(7 * time_s)) / 4
    samples = samples[: SECONDS * rate]
    return np.pad(samples, (0, SECONDS * rate - len(samples))), rate


def make_set(folder: Path, count: int) -> None:
    """Write the clips; those that are there already are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        rate, channels, suffix = KINDS[number % len(KINDS)]
        path = folder / f"{CLASSES[number % 7]}_{number:05d}.{suffix}"
        if path.exists():
            continue
        samples, own_rate = speech(number)
        noise = np.random.default_rng(number)
        samples = 0.9 * soxr.resample(samples, own_rate, rate, quality="VHQ")
        columns = [samples + 0.002 * noise.standard_normal(len(samples)) for _ in range(channels)]
        soundfile.write(path, np.stack(columns, 1).clip(-1, 1), rate)


def floor_one(path: Path, out: Path) -> None:
    """The least that has to be done for one clip."""
    with soundfile.SoundFile(path) as file:
        rate, channels = file.samplerate, file.channels
        samples = file.read(17 * rate, dtype="float32", always_2d=True)
    mono = samples[:, 0]
    if channels > 1:
        mono = mono.copy()
        for column in range(1, channels):
            mono += samples[:, column]
        mono *= np.float32(1 / channels)
    if rate != 16_000:
        mono = soxr.resample(mono, rate, 16_000, quality="VHQ")
    scaled = np.rint(mono[:256_000] * np.float32(32768))
    np.clip(scaled, -32768, 32767, out=scaled)
    clip = scaled.astype("<i2")
    hashlib.sha256(clip.data).hexdigest()
    soundfile.write(out / f"{path.stem}.flac", clip, 16_000, subtype="PCM_16")


def librosa_one(path: Path, out: Path) -> None:
    """librosa.load, then soundfile."""
    import librosa

    samples, _ = librosa.load(path, sr=16_000, mono=True)
    soundfile.write(out / f"{path.stem}.flac", samples[:256_000], 16_000, subtype="PCM_16")


def audresample_one(path: Path, out: Path) -> None:
    """Audiofile and audresample, as audEERING's own documentation pairs them."""
    import audiofile
    import audresample

    samples, rate = audiofile.read(str(path), always_2d=True)
    samples = audresample.resample(audresample.remix(samples, mixdown=True), rate, 16_000)
    audiofile.write(str(out / f"{path.stem}.flac"), samples[:, :256_000], 16_000, bit_depth=16)


def lhotse_one(path: Path, out: Path) -> None:
    """A lhotse Recording, resampled when it is loaded."""
    import torch
    from lhotse import Recording

    torch.set_num_threads(1)
    samples = Recording.from_file(path).resample(16_000).load_audio().mean(0)
    soundfile.write(out / f"{path.stem}.flac", samples[:256_000], 16_000, subtype="PCM_16")


def datasets_all(files: Sequence[Path], out: Path, processes: int) -> None:
    """Cast to Audio and map, as the documentation of ``datasets`` has it."""
    import datasets

    datasets.disable_progress_bars()
    datasets.disable_caching()
    made = datasets.Dataset.from_dict({"audio": [str(path) for path in files]})
    made = made.cast_column("audio", datasets.Audio(sampling_rate=16_000))

    def write(row: dict, at: int) -> dict:
        audio = row["audio"]
        samples = audio["array"] if isinstance(audio, dict) else audio.get_all_samples().data.numpy().mean(0)
        soundfile.write(out / f"{at:05d}.flac", np.asarray(samples)[:256_000], 16_000, subtype="PCM_16")
        return {"samples": len(samples)}

    made.map(write, with_indices=True, num_proc=processes if processes > 1 else None, remove_columns=["audio"])


def piece(work: tuple[Callable[[Path, Path], None], Sequence[Path], Path]) -> None:
    """Do one piece of a set."""
    action, files, out = work
    for path in files:
        action(path, out)


def spread(action: Callable[[Path, Path], None], how: str) -> Callable[[Sequence[Path], Path], None]:
    """A way to do all files: ``1 process``, ``2 threads`` or ``2 processes``."""

    def run(files: Sequence[Path], out: Path) -> None:
        work = [(action, files[at : at + PIECE], out) for at in range(0, len(files), PIECE)]
        if how == "2 threads":
            with ThreadPoolExecutor(2) as threads:
                list(threads.map(piece, work))
        elif how == "2 processes":
            with get_context("fork").Pool(2) as processes:
                list(processes.imap_unordered(piece, work))
        else:
            list(map(piece, work))

    return run


def rebuild(folder: Path, spec: Path, out: Path, workers: int) -> None:
    """What is measured."""
    report = reconstruct(
        out=out, corpora={str(spec): str(folder)}, all_clips=True, manifest=Manifest.of([], {}), workers=workers
    )
    if not report.clean:
        raise SystemExit(report.text())


def on_one_core(action: Callable[[Sequence[Path], Path], None]) -> Callable[[Sequence[Path], Path], None]:
    """The same on a single core."""

    def run(files: Sequence[Path], out: Path) -> None:
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cores)})
        try:
            action(files, out)
        finally:
            os.sched_setaffinity(0, cores)

    return run


def contenders(folder: Path, spec: Path) -> dict[str, Callable[[Sequence[Path], Path], None]]:
    """Everything that is installed, by name."""
    found = {f"floor, {how}": spread(floor_one, how) for how in ("1 process", "2 threads", "2 processes")}
    found["floor, one core"] = on_one_core(spread(floor_one, "1 process"))
    found["reconstruct, 2 workers"] = lambda files, out: rebuild(folder, spec, out / "set", 2)
    found["reconstruct, one core"] = on_one_core(lambda files, out: rebuild(folder, spec, out / "set", 1))
    for name, action, needs in (
        ("librosa", librosa_one, ("librosa",)),
        ("audresample", audresample_one, ("audresample", "audiofile")),
        ("lhotse", lhotse_one, ("lhotse", "torch")),
    ):
        if all(map(importlib.util.find_spec, needs)):
            found |= {f"{name}, {how}": spread(action, how) for how in ("1 process", "2 processes")}
        else:
            print(f"{name} is not installed: left out")
    try:
        import datasets

        datasets.Audio().decode_example({"path": str(min(folder.glob("*.wav"))), "bytes": None})
    except (ImportError, RuntimeError, OSError) as error:
        print(f"datasets cannot decode audio here: left out ({error})")
    else:
        for processes in (1, 2):
            how = f"{processes} process{'es' * (processes > 1)}"
            found[f"datasets {datasets.__version__}, {how}"] = lambda files, out, n=processes: datasets_all(
                files, out, n
            )
    return found


def speed(folder: Path, spec: Path, rounds: int) -> None:
    """Let all contenders take turns and print the table."""
    files = sorted(path for path in folder.iterdir() if path.suffix != ".toml")
    named = contenders(folder, spec)
    wall: dict[str, list[float]] = {name: [] for name in named}
    cpu: dict[str, list[float]] = {name: [] for name in named}
    for turn in range(rounds + 1):
        for name, action in named.items():
            with tempfile.TemporaryDirectory() as out:
                before, started = os.times(), time.perf_counter()
                action(files if turn else files[: 4 * PIECE], Path(out))
                seconds, after = time.perf_counter() - started, os.times()
            if turn:
                wall[name].append(seconds)
                cpu[name].append(sum(after[:4]) - sum(before[:4]))
    print(f"\n{len(files)} clips of {SECONDS} s, FLAC out, {rounds} rounds; {machine()}\n")
    print(f"{'':<28}{'clips/s':>9}{'x real time':>13}{'CPU ms/clip':>13}")
    for name in named:
        rate = len(files) / min(wall[name])
        print(f"{name:<28}{rate:>9.0f}{rate * SECONDS:>13.0f}{1e3 * min(cpu[name]) / len(files):>13.2f}")
    ratios(wall, cpu)


def ratios(wall: dict[str, list[float]], cpu: dict[str, list[float]]) -> None:
    """Print how `reconstruct` stands; above 1 it is the faster one."""
    ours, alone = "reconstruct, 2 workers", "reconstruct, one core"
    spread_floor = min(("floor, 2 threads", "floor, 2 processes"), key=lambda name: min(wall[name]))
    print(f"\n{'reconstruct against':<40}{'aim':>6}{'by wall':>9}{'by CPU':>9}")
    peers = [name for name in wall if not name.startswith(("floor", "reconstruct"))]
    pairs = [(ours, spread_floor, "0.90"), (alone, "floor, one core", "0.91")]
    for how, aim in (("1 process", "1.50"), ("2 processes", "")):
        of_kind = [name for name in peers if name.endswith(how)]
        if of_kind:
            pairs.append((ours, min(of_kind, key=lambda name: min(wall[name])), aim))
    for mine, other, aim in pairs:
        by_wall, by_cpu = min(wall[other]) / min(wall[mine]), min(cpu[other]) / min(cpu[mine])
        print(f"{other:<40}{aim:>6}{by_wall:>9.2f}{by_cpu:>9.2f}")


def machine() -> str:
    """The machine and the libraries, in one line."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine()
    )
    load = f"load {os.getloadavg()[0]:.1f}"
    tools = f"libsndfile {soundfile.__libsndfile_version__}, soxr {soxr.__version__}, numpy {np.__version__}"
    return f"{os.cpu_count()} cores {model}, {load}, Python {platform.python_version()}, {tools}"


def many_short(folder: Path) -> None:
    """As many clips as the benchmark has, 0.1 s each."""
    noise = np.random.default_rng(1)
    for number in range(64_384):
        samples = noise.integers(-3_000, 3_000, 1_600).astype(np.int16)
        soundfile.write(folder / f"{CLASSES[number % 7]}_{number:05d}.wav", samples, 16_000)


def one_long(folder: Path) -> None:
    """A 3-hour recording with 1,000 segments of 3 s."""
    with soundfile.SoundFile(folder / "talk.wav", "w", 44_100, 2, "PCM_16") as file:
        noise = np.random.default_rng(1)
        for _ in range(180):
            file.write(noise.integers(-3_000, 3_000, (60 * 44_100, 2)).astype(np.int16))
    rows = [f"s{n:04d},talk.wav,{n * 10.5},{n * 10.5 + 3},{CLASSES[n % 7]}" for n in range(1_000)]
    (folder / "segments.csv").write_text("\n".join(["name,file,start,end,native_label", *rows]))


TABLE_SPEC = (
    SPEC[: SPEC.index("[files]")]
    + """[table]
path = 'segments\\.csv'
[clip]
id = "{name}"
media = "{file}"
start_s = "{start}"
end_s = "{end}"
[labels]
"""
)


def memory() -> None:
    """Peak memory of whole processes."""
    print(machine())
    for what, make, text in (("64,384 clips", many_short, SPEC), ("3 hours in one file", one_long, TABLE_SPEC)):
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work) / "corpus"
            folder.mkdir()
            make(folder)
            spec = write_spec(Path(work), text)
            command = [sys.executable, __file__, "--one", str(folder), str(spec), str(Path(work) / "out")]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            print(f"{what:<24}{done.stdout.strip()}", flush=True)


def one(folder: Path, spec: Path, out: Path) -> None:
    """One run in this process: what it took."""
    for what in ("first run", "second run"):
        started = time.perf_counter()
        rebuild(folder, spec, out, 2)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{what} {time.perf_counter() - started:.1f} s, peak {peak:.0f} MiB", end="; ")


def write_spec(folder: Path, text: str = SPEC) -> Path:
    """Write the spec of the benchmark's corpus."""
    path = folder / "bench.toml"
    path.write_text(text + "".join(f'{label} = "{label}"\n' for label in CLASSES))
    return path


def main() -> None:
    """Parse the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the audio set here, and use what is there")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--one", nargs=3, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(*options.one)
    elif options.memory:
        memory()
    else:
        with tempfile.TemporaryDirectory() as work:
            folder = options.keep or Path(work) / "corpus"
            make_set(folder, options.clips)
            speed(folder, write_spec(Path(work)), options.rounds)


if __name__ == "__main__":
    main()
