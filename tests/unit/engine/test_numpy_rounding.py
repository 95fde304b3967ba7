"""Rounding modes of the processor under NumPy: used only where a check finds that they work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simt.engine import numpy_rounding
from simt.engine.numpy_rounding import MODES, Environment


@pytest.fixture
def environment() -> Environment:
    found = numpy_rounding.environment()
    if found is None:
        pytest.skip("the rounding mode cannot be set here, or NumPy does not follow it")
    return found


@pytest.mark.parametrize("rounding", ["rm", "rp", "rz"])
def test_a_mode_that_does_something_else_is_found(environment: Environment, rounding: str) -> None:
    assert environment.works()
    for other in {"rn", "rm", "rp", "rz"} - {rounding}:
        wrong = {**environment.modes, rounding: environment.modes[other]}
        assert not replace(environment, modes=wrong).works()


def test_a_function_that_does_nothing_is_found() -> None:
    assert not Environment(lambda mode: 0, MODES["x86_64"]).works()


def test_the_mode_is_nearest_again_after_an_error(environment: Environment) -> None:
    def fail() -> np.ndarray:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        environment.apply("rp", fail)
    assert 1.0 + 2.0**-60 == 1.0
