"""Synthetic recordings for tests: made on the spot, the same everywhere, in every format that corpora come in."""

import io
from pathlib import Path

import numpy as np
import soundfile

FORMATS = {
    "pcm16.wav": ("WAV", "PCM_16"),
    "pcm8.wav": ("WAV", "PCM_U8"),
    "pcm24.wav": ("WAV", "PCM_24"),
    "pcm32.wav": ("WAV", "PCM_32"),
    "float.wav": ("WAV", "FLOAT"),
    "double.wav": ("WAV", "DOUBLE"),
    "ulaw.wav": ("WAV", "ULAW"),
    "extensible.wav": ("WAVEX", "PCM_16"),
    "x.flac": ("FLAC", "PCM_16"),
    "x24.flac": ("FLAC", "PCM_24"),
    "x.mp3": ("MP3", "MPEG_LAYER_III"),
    "x.ogg": ("OGG", "VORBIS"),
    "x.opus": ("OGG", "OPUS"),
    "x.aiff": ("AIFF", "PCM_16"),
    "x.sph": ("NIST", "PCM_16"),
    "x.au": ("AU", "PCM_16"),
}
"""File name to libsndfile's format and subtype."""


def voice(seconds: float, rate: int, channels: int = 1, *, seed: int = 0) -> np.ndarray:
    """Something like speech: a gliding tone with overtones, syllables and a noise floor; float64, (n, channels)."""
    generator = np.random.default_rng(seed)
    time = np.arange(round(seconds * rate)) / rate
    phase = 2 * np.pi * (110 + 20 * seed % 90) * (time + 0.05 * np.sin(2 * np.pi * 0.7 * time))
    tone = sum(np.sin(k * phase) / k for k in range(1, 12))
    envelope = 0.15 + 0.85 * np.abs(np.sin(2 * np.pi * 2.3 * time))
    columns = [0.25 * tone * envelope + 0.002 * generator.standard_normal(len(time)) for _ in range(channels)]
    return np.stack(columns, 1).clip(-0.99, 0.99)


def encode(samples: np.ndarray, rate: int, format: str = "WAV", subtype: str = "PCM_16") -> bytes:
    """The bytes of a recording."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, format=format, subtype=subtype)
    return buffer.getvalue()


def write_voice(path: Path, seconds: float = 0.5, rate: int = 16_000, channels: int = 1, *, seed: int = 0) -> Path:
    """Write a recording; the format follows the suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    name = {"sph": "NIST", "aif": "AIFF"}.get(path.suffix[1:], path.suffix[1:].upper())
    soundfile.write(path, voice(seconds, rate, channels, seed=seed), rate, format=name)
    return path


VIDEO_FORMATS = {
    "x.mp4": ("mp4", "aac"),
    "x.m4a": ("ipod", "alac"),
    "x.mov": ("mov", "pcm_s16le"),
    "x.avi": ("avi", "pcm_s16le"),
    "y.avi": ("avi", "mp3"),
    "x.flv": ("flv", "aac"),
    "x.webm": ("webm", "libopus"),
    "x.mkv": ("matroska", "pcm_s16le"),
}
"""File name to container and audio codec, as PyAV names them."""


def encode_video(samples: np.ndarray, rate: int, container: str, codec: str, *, picture: bool = False) -> bytes:
    """The bytes of a video file with this sound, and a moving picture where asked for."""
    import av

    buffer = io.BytesIO()
    channels = samples.shape[1]
    layout = "stereo" if channels == 2 else "mono"
    with av.open(buffer, "w", format=container) as output:
        stream = output.add_stream(codec, rate=rate, layout=layout)
        if picture:
            video = output.add_stream("mpeg4", rate=25)
            video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
            for number in range(round(25 * len(samples) / rate)):
                image = av.VideoFrame.from_ndarray(np.full((48, 64, 3), number % 256, np.uint8), "rgb24")
                image.pts = number
                output.mux(video.encode(image))
            output.mux(video.encode(None))
        whole = np.ascontiguousarray((samples * 32767).astype(np.int16).reshape(1, -1))
        frame = av.AudioFrame.from_ndarray(whole, format="s16", layout=layout)
        frame.sample_rate, frame.pts = rate, 0
        fifo = av.AudioFifo()
        for part in av.AudioResampler(format=stream.format, layout=layout, rate=rate).resample(frame):
            fifo.write(part)
        size = stream.codec_context.frame_size or 1024
        while (part := fifo.read(size, partial=True)) is not None:
            output.mux(stream.encode(part))
        output.mux(stream.encode(None))
    return buffer.getvalue()
