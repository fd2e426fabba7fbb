"""Languages as BCP-47 tags: counted by base language, filtered by prefix."""


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
