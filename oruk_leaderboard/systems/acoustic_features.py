"""Plain acoustic features of a clip in numpy: energy, pitch and spectrum, summarised over time."""

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.classes import SAMPLE_RATE
from oruk_leaderboard.systems.base import Waveform

FRAME, HOP, FFT = 400, 160, 512
"""Frame (25 ms), hop (10 ms) and Fourier length in samples."""

BANDS = 26
"""Mel bands."""

PITCH_HZ = (60.0, 500.0)
"""Range in which pitch is looked for."""

VOICED = 0.45
"""Normalised autocorrelation above which a frame counts as voiced."""

NEARLY = 0.85
"""Share of the highest autocorrelation that a peak needs to be taken for the period."""

_FLOOR = 1e-10
Floats = NDArray[np.float64]


def mel_filters() -> Floats:
    """Triangular filters, shape (BANDS, FFT // 2 + 1), on the mel scale 2595 · log10(1 + f / 700)."""
    top = 2595 * np.log10(1 + SAMPLE_RATE / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, top, BANDS + 2) / 2595) - 1)
    at = np.arange(FFT // 2 + 1) * SAMPLE_RATE / FFT
    up = (at - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - at) / (edges[2:] - edges[1:-1])[:, None]
    return np.clip(np.minimum(up, down), 0, None)


_FILTERS = mel_filters()


def features(wave: Waveform) -> Floats:
    """Mean, standard deviation, 10 % and 90 % quantile of every track, and the share of voiced frames.

    Tracks: log energy, its change, zero crossings, spectral centroid, flatness, the log mel bands, and log pitch over
    voiced frames (0 where none is).

    Args:
        wave: Shape (n_samples,), 16 kHz mono; any length.

    Returns:
        Shape (4 · (BANDS + 6) + 1,), finite.
    """
    samples = np.pad(wave.astype(np.float64), (0, max(0, FRAME + HOP - wave.size)))
    frames = np.lib.stride_tricks.sliding_window_view(samples, FRAME)[::HOP]
    energy = np.log(np.mean(np.square(frames), axis=1) + _FLOOR)
    power = np.square(np.abs(np.fft.rfft(frames * np.hanning(FRAME), FFT, axis=1)))
    hertz = np.arange(FFT // 2 + 1) * SAMPLE_RATE / FFT
    total = power.sum(axis=1) + _FLOOR
    centroid = power @ hertz / total
    flatness = np.mean(np.log(power + _FLOOR), axis=1) - np.log(total / power.shape[1])
    crossings = np.mean(np.diff(np.signbit(frames), axis=1), axis=1)
    pitch, voiced = _pitch(frames)
    tracks = [energy, np.diff(energy, prepend=energy[:1]), crossings, centroid, flatness]
    tracks += list(np.log(power @ _FILTERS.T + _FLOOR).T)
    tracks.append(np.log(pitch[voiced]) if voiced.any() else np.zeros(1))
    summary = [part for track in tracks for part in (track.mean(), track.std(), *np.quantile(track, (0.1, 0.9)))]
    return np.array([*summary, voiced.mean()])


def _pitch(frames: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Pitch of each frame in Hz by autocorrelation, and whether the frame is voiced."""
    low, high = (int(SAMPLE_RATE / hertz) for hertz in reversed(PITCH_HZ))
    centred = frames - frames.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * FFT, axis=1)
    correlation = np.fft.irfft(np.square(np.abs(spectrum)), axis=1)[:, :FRAME]
    normal = correlation[:, low : high + 1] / (correlation[:, :1] + _FLOOR)
    # A lag of k samples has FRAME - k products: undo that loss, or low voices seem unvoiced.
    normal *= FRAME / (FRAME - np.arange(low, min(high + 1, FRAME)))
    # Every multiple of the period is a peak too: the first one that is nearly the highest is the period itself.
    peak = np.zeros(normal.shape, bool)
    peak[:, 1:-1] = (normal[:, 1:-1] >= normal[:, :-2]) & (normal[:, 1:-1] > normal[:, 2:])
    best = np.argmax(peak & (normal >= NEARLY * normal.max(axis=1, keepdims=True)), axis=1)
    return SAMPLE_RATE / (best + low).astype(np.float64), normal[np.arange(len(best)), best] > VOICED
