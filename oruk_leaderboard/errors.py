"""Errors that a user can act on: what is wrong, where, what was expected, what was found, what to do."""

from collections.abc import Iterable

_LONGEST = 300
"""Most characters of what was found that a message repeats."""


class OrukError(Exception):
    """Unusable arguments or input; the command line prints it as one line and exits with 2.

    Args:
        what: What is wrong, in a few words.
        where: File, line, corpus, key or clip it is about.
        expected: What would have been right.
        found: What was there instead.
        do: What the user can do about it.
    """

    def __init__(
        self,
        what: str,
        *,
        where: object = None,
        expected: object = None,
        found: object = None,
        do: str | None = None,
    ) -> None:
        self.what, self.where, self.expected, self.found, self.do = what, where, expected, found, do
        parts = [what if where is None else f"{where}: {what}"]
        if expected is not None:
            parts.append(f"expected {expected}")
        if found is not None:
            # What was found may be a whole file; the line must stay one that a person reads.
            text = str(found)
            parts.append(f"found {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}")
        if do is not None:
            parts.append(do)
        super().__init__("; ".join(map(_one_line, parts)))

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling between worker processes although the fields are keyword-only."""
        return _rebuild, (type(self), self.what, self.where, self.expected, self.found, self.do)


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """The known words that ``word`` may be a misspelling of, at most three, the nearest first."""
    from difflib import get_close_matches

    by_form = {name.casefold().replace("-", "_"): name for name in known}
    return [by_form[form] for form in get_close_matches(word.casefold().replace("-", "_"), by_form, n=3)]


def did_you_mean(word: str, known: Iterable[str], *, see: str) -> str:
    """What to do about an unknown name: the nearest known names, if any, and the command that lists all."""
    near = nearest(word, known)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return f"{meant}see: oruk-leaderboard {see}"


def _one_line(text: str) -> str:
    """The text without line ends, and without characters of a file's name that would command a terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in " ".join(text.split()))


def _rebuild(
    cls: type[OrukError], what: str, where: object, expected: object, found: object, do: str | None
) -> OrukError:
    return cls(what, where=where, expected=expected, found=found, do=do)


class CorpusError(OrukError):
    """A corpus spec, a label file or a corpora root cannot be used."""


class ManifestError(OrukError):
    """The manifest, or a set made from it, is not what it claims to be."""


class AudioError(OrukError):
    """A recording cannot be turned into a clip; becomes a counted state, not the end of a run.

    Args:
        reason: One word that reports count by: ``empty``, ``lfs-pointer``, ``truncated``, ``unreadable``, ``no-rate``,
            ``not-finite``, ``no-channel``, ``segment-outside``.
    """

    def __init__(
        self,
        what: str,
        *,
        reason: str,
        where: object = None,
        expected: object = None,
        found: object = None,
        do: str | None = None,
    ) -> None:
        super().__init__(what, where=where, expected=expected, found=found, do=do)
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        """As for the base class."""
        return _rebuild_audio, (self.what, self.reason, self.where, self.expected, self.found, self.do)


def _rebuild_audio(
    what: str, reason: str, where: object, expected: object, found: object, do: str | None
) -> "AudioError":
    return AudioError(what, reason=reason, where=where, expected=expected, found=found, do=do)


class PredictionError(OrukError):
    """A predictions, receipts or gold file has a row that cannot be scored."""


class MetricError(OrukError):
    """Arrays or options from which a metric, an interval or a test cannot be computed."""


class RecordError(OrukError):
    """A result record breaks the schema or contradicts itself."""


class HubError(OrukError):
    """The Hub refused, or its content is not what was expected."""


class MissingExtraError(OrukError):
    """An optional dependency is needed; the message names the extra to install."""

    def __init__(self, what: str, *, extra: str, where: object = None) -> None:
        super().__init__(what, where=where, do=f'run: python -m pip install "oruk-bench-leaderboard[{extra}]"')
        self.extra = extra

    def __reduce__(self) -> tuple[object, ...]:
        """As for the base class; ``extra`` is already part of ``do``."""
        return _rebuild_extra, (self.what, self.extra, self.where)


def _rebuild_extra(what: str, extra: str, where: object) -> MissingExtraError:
    return MissingExtraError(what, extra=extra, where=where)
