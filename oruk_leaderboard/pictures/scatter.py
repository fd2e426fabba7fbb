"""Pictures as SVG text: no script draws them, so they print, work without JavaScript and are the same bytes every time.

Colours come from the style sheet by class (``f-open`` …), so one picture serves light and dark. Each family has a
colour and a shape; a filled mark is a row of the full set, a hollow one of the subsample.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

SHAPES: dict[str, str] = {
    "ours": "M0-7.2 2.1-2.5 7-2 3.3 1.4 4.4 6.3 0 3.8-4.4 6.3-3.3 1.4-7-2-2.1-2.5Z",
    "open": "M5 0A5 5 0 1 1-5 0A5 5 0 1 1 5 0Z",
    "API": "M0-6.2 6.2 0 0 6.2-6.2 0Z",
    "audio LLM": "M-4.5-4.5H4.5V4.5H-4.5Z",
    "text only": "M0-5.8 5.6 4.2H-5.6Z",
}
"""Family to the outline of its mark, centred on 0, about 10 units wide."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark.

    Attributes:
        key: Key of the row it opens.
        name: System.
        family: Family, for colour and shape.
        x: Value on the horizontal axis, or None where unknown (drawn in a strip of its own).
        y: Value on the vertical axis.
        hollow: Whether the row was scored on the subsample.
        label: Whether the name is written beside the mark where there is room.
        tip: Text shown when the mark is pointed at.
    """

    key: str
    name: str
    family: str
    x: float | None
    y: float
    hollow: bool
    label: bool
    tip: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale with its ticks.

    Attributes:
        title: What it shows, with the unit.
        low: Value at the start.
        high: Value at the end.
        ticks: Values and how they are written.
        log: Whether it is logarithmic.
    """

    title: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = False

    def share(self, value: float) -> float:
        """Position of a value along the axis, 0 to 1."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def slug(family: str) -> str:
    """Class of a family in the style sheet."""
    return "f-" + family.replace(" ", "-").lower()


def mark(family: str) -> Markup:
    """Small inline mark of a family, for tables and legends."""
    return Markup('<svg class="mark {}" viewBox="-8 -8 16 16" aria-hidden="true"><path d="{}"/></svg>').format(
        slug(family), SHAPES[family]
    )


def aligned(figure: str, places: int = 2) -> str:
    """A figure with the digits of its source, padded with figure spaces so that decimal points align in a column."""
    return figure + "\u2007" * max(0, places - len(figure.partition(".")[2]))


def margin(interval: tuple[str, str] | None, places: int = 2) -> str:
    """Half of an interval, as ``±0.36``; empty where there is none."""
    return "" if interval is None else f"±{(float(interval[1]) - float(interval[0])) / 2:.{places}f}"


def bar(share: float) -> Markup:
    """Horizontal bar of a table cell, ``share`` 0 to 1 of its width."""
    rect = Markup('<rect width="{}" height="8"/>').format(_n(100 * min(max(share, 0.0), 1.0)))
    return Markup('<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{}</svg>').format(
        rect
    )


Guide = tuple[tuple[float, float], tuple[float, float], str]
"""A dashed line: where it starts, where it ends, what it means."""


def scatter(
    points: Sequence[Mark],
    *,
    x: Axis,
    y: Axis,
    width: int,
    height: int,
    title: str,
    unknown: str,
    guide: Guide | None = None,
) -> Markup:
    """Scatter plot.

    Args:
        points: Marks, drawn in this order.
        x: Horizontal axis.
        y: Vertical axis.
        width: Width in user units; text is 12 units high, so this is the width in CSS pixels it is made for.
        height: Height in user units.
        title: What a screen reader says instead of the picture.
        unknown: Name of the strip for marks without an ``x``; left out when every mark has one.
        guide: A dashed line to read the marks against.
    """
    left, right, top, bottom = 44.0, width - 14.0, 22.0, height - 44.0
    strip = 64.0 if any(point.x is None for point in points) else 0.0
    plot_left = left + strip

    def px(value: float) -> float:
        return plot_left + x.share(value) * (right - plot_left)

    def py(value: float) -> float:
        return bottom - y.share(value) * (bottom - top)

    parts = [
        f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}"'
        f' data-x="{x.low} {x.high} {int(x.log)} {_n(plot_left)} {_n(right)}"'
        f' data-y="{y.low} {y.high} {int(y.log)} {_n(bottom)} {_n(top)}" data-unknown="{_n(left + strip / 2 - 6)}">',
        '<g class="grid">',
    ]
    for value, text in y.ticks:
        parts.append(f'<path d="M{_n(left)} {_n(py(value))}H{_n(right)}"/>')
        parts.append(_text(left - 8, py(value) + 4, text, anchor="end"))
    for value, text in x.ticks:
        parts.append(f'<path class="tick" d="M{_n(px(value))} {_n(bottom)}v5"/>')
        parts.append(_text(px(value), bottom + 18, text, anchor="middle"))
    if strip:
        size = f'width="{_n(strip - 12)}" height="{_n(bottom - top)}"'
        parts.append(f'<rect class="strip" x="{_n(left)}" y="{_n(top)}" {size}/>')
        parts.append(_text(left + strip / 2 - 6, bottom + 18, unknown, anchor="middle"))
    if guide is not None:
        (from_x, from_y), (to_x, to_y), name = guide
        ends = f"M{_n(px(from_x))} {_n(py(from_y))}L{_n(px(to_x))} {_n(py(to_y))}"
        parts.append(f'<path class="guide" d="{ends}"/>')
        parts.append(_text(px(to_x) - 8, py(to_y) + 6, name, anchor="end", css="guide-name"))
    parts.append(_text(left - 38, top - 9, y.title, anchor="start", css="axis"))
    parts.append(_text((plot_left + right) / 2, height - 6, x.title, anchor="middle", css="axis"))
    parts.append("</g>")
    placed = _spread(points, lambda point: (px(point.x) if point.x is not None else left + strip / 2 - 6, py(point.y)))
    for point, (across, down) in zip(points, placed, strict=True):
        kind = f"{slug(point.family)} hollow" if point.hollow else slug(point.family)
        parts.append(
            f'<path class="pt {kind}" data-key="{escape(point.key)}" data-tip="{escape(point.tip)}"'
            f' transform="translate({_n(across)} {_n(down)})" d="{SHAPES[point.family]}"/>'
        )
    parts.extend(_labels(points, placed, right=right, top=top, bottom=bottom))
    parts.append("</svg>")
    return Markup("".join(parts))


def _spread(points: Sequence[Mark], place: Callable[[Mark], tuple[float, float]]) -> list[tuple[float, float]]:
    """Places of the marks; marks of the strip that would cover each other step aside."""
    placed: list[tuple[float, float]] = []
    for point in points:
        across, down = place(point)
        if point.x is None:
            for step in (0, 11, -11, 19, -19):
                if all(math.hypot(across + step - other_x, down - other_y) > 10 for other_x, other_y in placed):
                    across += step
                    break
        placed.append((across, down))
    return placed


def _labels(
    points: Sequence[Mark], placed: Sequence[tuple[float, float]], *, right: float, top: float, bottom: float
) -> list[str]:
    """Names beside their marks, at the first of six places where they cover nothing; left out where all are taken."""
    boxes = [(across - 6, down - 6, across + 6, down + 6) for across, down in placed]
    parts = []
    for index, (point, (across, down)) in enumerate(zip(points, placed, strict=True)):
        if not point.label:
            continue
        size = 6.1 * len(point.name)
        offers = [
            (across + 10, down + 4, "start"),
            (across - 10, down + 4, "end"),
            (across + 8, down - 8, "start"),
            (across - 8, down - 8, "end"),
            (across + 8, down + 16, "start"),
            (across - 8, down + 16, "end"),
        ]
        for at, base, anchor in offers:
            start = at if anchor == "start" else at - size
            box = (start - 2, base - 10, start + size + 2, base + 3)
            inside = box[0] > 44 and box[2] < right + 10 and box[1] > top - 8 and box[3] < bottom
            if inside and not any(_meet(box, other) for place, other in enumerate(boxes) if place != index):
                boxes.append(box)
                parts.append(_text(at, base, point.name, anchor=anchor, css="name"))
                break
    return parts


def _text(across: float, down: float, text: str, *, anchor: str, css: str = "") -> str:
    kind = f' class="{css}"' if css else ""
    return f'<text{kind} x="{_n(across)}" y="{_n(down)}" text-anchor="{anchor}">{escape(text)}</text>'


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _n(value: float) -> str:
    """Number with at most one decimal, as short as it goes."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text
