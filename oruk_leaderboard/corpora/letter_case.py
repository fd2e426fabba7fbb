"""File names whose letters have all become lower or upper case on some disk, as the release writes them."""

import re
from collections.abc import Callable, Sequence
from itertools import product

_WORD = re.compile(r"[^\W\d_]+")
_MOST_WORDS = 7
"""Names with more words (hexadecimal numbers) are tried in one form for all words only."""


def _last_upper(word: str) -> str:
    return word[:-1].lower() + word[-1].upper()


_FORMS: Sequence[Callable[[str], str]] = (str.lower, str.upper, str.capitalize, _last_upper)
"""How releases write the words of a name, the likeliest first."""


class Recased:
    """A pattern that also fits names in which case was lost."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._fits = pattern.fullmatch
        self._fits_any = re.compile(pattern.pattern, pattern.flags | re.IGNORECASE).fullmatch
        self._known: list[tuple[Callable[[str], str], ...]] = []

    def fullmatch(self, stem: str) -> re.Match[str] | None:
        """The match of the stem as the release writes it, which is the match's ``string``; None where none fits."""
        if found := self._fits(stem):
            return found
        if not self._fits_any(stem) or stem not in (stem.lower(), stem.upper()):
            return None
        words, between = _WORD.findall(stem), _WORD.split(stem)
        # The names of a corpus are alike: the form of one is the form of the next.
        for forms in self._known:
            if len(forms) == len(words) and (found := self._fits(_joined(forms, words, between))):
                return found
        tried = (
            product(_FORMS, repeat=len(words))
            if len(words) <= _MOST_WORDS
            else ((form,) * len(words) for form in _FORMS)
        )
        for forms in tried:
            if found := self._fits(_joined(forms, words, between)):
                self._known.append(forms)
                return found
        return None


def _joined(forms: Sequence[Callable[[str], str]], words: Sequence[str], between: Sequence[str]) -> str:
    recased = [form(word) for form, word in zip(forms, words, strict=True)]
    return "".join(part for pair in zip(between, [*recased, ""], strict=True) for part in pair)
