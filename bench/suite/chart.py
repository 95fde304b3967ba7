"""A picture of the ratios, by matplotlib where it is installed."""

from __future__ import annotations

from pathlib import Path

from suite.measure import Line
from suite.versions import LeftOut, optional

CHART = Path(__file__).resolve().parent.parent / "results.png"
MARKS = {"plain C": "o", "SPMD C": "D", "PoCL": "^", "Numba": "s"}


def draw(lines: list[Line]) -> str:
    """Draws how many times longer than simt each version takes. Returns a word on what was done."""
    try:
        optional("matplotlib").use("Agg")
    except LeftOut as reason:
        return f"no chart: {reason}"
    pyplot = optional("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(9, 0.32 * len(lines) + 1.4))
    for name, mark in MARKS.items():
        points = [(1 / r, y) for y, line in enumerate(lines) if (r := line.ratio(name))]
        axes.plot([x for x, _ in points], [y for _, y in points], mark, label=name, alpha=0.8)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(lines)), [line.name for line in lines])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.grid(axis="x", which="both", alpha=0.25)
    axes.set_xlabel("time over simt's time, one thread (left of the line: faster than simt)")
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(CHART, dpi=120)
    pyplot.close(figure)
    return f"chart in {CHART}"
