"""Gold labels of the clips that a protocol names."""

import numpy as np

from oruk_leaderboard.answers.gold import Gold, gold_of_columns
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.protocols.spec import Protocol


def gold_of_protocol(protocol: Protocol) -> Gold:
    """The clips that a protocol names: they follow from file names alone, so neither audio nor a gold file is needed.

    Raises:
        OrukError: The protocol does not name its clips.
    """
    named = protocol.clips
    if named is None:
        raise OrukError("the protocol does not name its clips", where=protocol.name, expected="[clips] in its file")
    first, last = named.speakers
    clips = [
        (named.id.format(speaker=speaker, ending=ending), str(speaker), label)
        for speaker in range(first, last + 1)
        for ending, label in named.endings.items()
    ]
    ids, speakers, labels = map(list, zip(*clips, strict=True))
    same = {"corpus": named.corpus, "language": named.language, "elicitation": named.elicitation}
    return gold_of_columns(
        ids,
        np.array([protocol.classes.index(label) for label in labels], np.int64),
        protocol.classes,
        {"speaker": speakers, **{name: [value] * len(ids) for name, value in same.items()}},
    )
