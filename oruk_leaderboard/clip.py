"""The clip: the one row that corpora, manifest, rebuilt sets and predictions share."""

from dataclasses import dataclass

from oruk_leaderboard.todict import ToDict


@dataclass(frozen=True, slots=True)
class Clip(ToDict):
    """One utterance of a corpus, as the corpus describes it.

    Attributes:
        clip_id: ``<corpus>/<name>``, NFC; the same for every packing, unique, never changed once released.
        corpus: Id of the corpus.
        media: Path of the recording below the corpora root as found, ``/`` between parts, NFC.
        start_s: Start within the recording in s, or None for the whole recording.
        end_s: End within the recording in s, or None.
        channel: Zero-based channel of the clip, or None for the mean of all channels.
        native_label: Label as the corpus writes it, or None where it has none.
        label: One of the seven classes, or None where the clip is left out (then ``excluded`` says why).
        speaker: The corpus's own speaker id, or None where unknown.
        gender: ``female``, ``male``, ``other``, ``child`` or None.
        language: BCP-47 tag, or None.
        elicitation: ``acted``, ``elicited``, ``spontaneous``, ``synthetic``, a ``+`` sum of these, or None.
        split: Partition the corpus itself assigns, or None.
        dialogue: Dialogue the clip belongs to, or None.
        turn: Turn within the dialogue, or None.
        transcript: Words spoken, or None.
        valence: Rating in the corpus's own range (the spec states it), or None.
        arousal: As ``valence``.
        dominance: As ``valence``.
        excluded: Why the clip is left out on purpose, or None.
    """

    clip_id: str
    corpus: str
    media: str
    start_s: float | None = None
    end_s: float | None = None
    channel: int | None = None
    native_label: str | None = None
    label: str | None = None
    speaker: str | None = None
    gender: str | None = None
    language: str | None = None
    elicitation: str | None = None
    split: str | None = None
    dialogue: str | None = None
    turn: str | None = None
    transcript: str | None = None
    valence: float | None = None
    arousal: float | None = None
    dominance: float | None = None
    excluded: str | None = None
