"""Languages as BCP-47 tags: counted by base language, filtered by prefix."""

from collections.abc import Mapping


def base_language(tag: str) -> str:
    """Base language of a tag, by which languages are counted.

    Example:
        >>> base_language("en-CA")
        'en'
    """
    return tag.partition("-")[0].lower()


def in_language(tag: str | None, wanted: str) -> bool:
    """Whether a tag is the wanted one or a variety of it; an unknown language is in none.

    Example:
        >>> in_language("en-CA", "en"), in_language("en", "en-CA"), in_language("eng", "en")
        (True, False, False)
    """
    return tag is not None and f"{tag}-".lower().startswith(f"{wanted}-".lower())


_NAMES: Mapping[str, str] = {
    "am": "Amharic",
    "ar": "Arabic",
    "arz": "Egyptian Arabic",
    "bn": "Bengali",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fr": "French",
    "hi": "Hindi",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "kk": "Kazakh",
    "kn": "Kannada",
    "ko": "Korean",
    "mul": "several languages",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "quz": "Cusco Quechua",
    "ru": "Russian",
    "ta": "Tamil",
    "tr": "Turkish",
    "ur": "Urdu",
    "vi": "Vietnamese",
    "zh": "Chinese",
    "zxx": "no language",
}
"""Base language to its reference name in ISO 639."""


def language_name(tag: str) -> str:
    """Name and tag for people; the tag alone where the name is not known.

    Example:
        >>> language_name("it"), language_name("en-CA"), language_name("unknown")
        ('Italian (it)', 'English (en-CA)', 'unknown')
    """
    name = _NAMES.get(base_language(tag))
    return f"{name} ({tag})" if name else tag
