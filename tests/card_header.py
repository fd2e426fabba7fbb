"""Reads the header of the card more strictly than the Hub does."""

from pathlib import Path
from typing import Any

import yaml

from oruk_leaderboard.card.readme import split_header
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.schemas import check


def read_header(path: Path) -> dict[str, Any]:
    """Metadata of a card, checked against ``schema/card.schema.json``.

    Raises:
        OrukError: There is no header, it is not YAML, a key is written twice, or the schema is broken. The Hub itself
            would let the last of two equal keys win.
    """

    class Strict(yaml.SafeLoader):
        """YAML that refuses a key written twice."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            if repeated := [key for key in keys if keys.count(key) > 1]:
                line = node.start_mark.line + 2
                raise OrukError("key written twice in the card's header", where=f"{path}:{line}", found=repeated[0])
            return super().construct_mapping(node, deep)

    text, _ = split_header(path.read_text(encoding="utf-8"), where=path)
    try:
        content = yaml.load(text, Loader=Strict)  # a SafeLoader
    except yaml.YAMLError as error:
        raise OrukError(f"the header of the card is not YAML: {error}", where=path) from error
    check(content, "card", where=path)
    return dict(content)
