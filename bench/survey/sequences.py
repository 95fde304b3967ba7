"""Strings, hidden states, plans: tables that are filled in an order."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem

from survey.case import case, integers, reals, zeros


@case(full=200, quick=2)
def align_diagonals(pairs: int) -> Problem:
    """Strings of 256 letters of four; a diagonal between two barriers."""
    return Problem(
        arrays={
            "a": integers(0, 4, pairs, 256, kind="i1"),
            "b": integers(0, 4, pairs + 1, 256, kind="i1")[1:],
            "best": zeros(pairs, kind="i4"),
        },
        scalars={"pairs": np.int32(pairs)},
        launches=[Launch("align_diagonals", pairs, 256, ("a", "b", "best"))],
        changed=["best"],
    )


@case(full=128, quick=2)
def viterbi(sequences: int) -> Problem:
    """64 states, 128 observations of 16 kinds."""
    length = 128
    return Problem(
        arrays={
            "move": np.log(reals(64, 64) + np.float32(0.01)),
            "emit": np.log(reals(16, 64) + np.float32(0.01)),
            "seen": integers(0, 16, sequences, length, kind="u1"),
            "from": zeros(sequences, length, 64, kind="u1"),
            "score": zeros(sequences, 64),
        },
        scalars={"sequences": np.int32(sequences), "length": np.int32(length)},
        launches=[Launch("viterbi", sequences, 64, ("move", "emit", "seen", "from", "score", "length"))],
        changed=["from", "score"],
        tolerance=1e-6,
    )


@case(full=40, quick=2)
def two_opt(tours: int) -> Problem:
    """All pairs of edges of tours of 512 cities."""
    return Problem(
        arrays={"city": reals(tours, 512, 2), "gain": zeros(tours), "where": zeros(tours, kind="i4")},
        scalars={"tours": np.int32(tours)},
        launches=[Launch("two_opt", tours, 256, ("city", "gain", "where"))],
        changed=["gain", "where"],
        tolerance=1e-5,
        mismatches=0.05,  # of which pair, where two gain the same but for rounding
    )
