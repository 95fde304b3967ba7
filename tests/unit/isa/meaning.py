"""Runs the meaning of one instruction on NumPy columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa.algebra import Environment
from simt.isa.form import main_type
from simt.isa.select import Selection, select

Array = NDArray[Any]
DEFAULT = Environment()


def run(opcode: str, *operands: Array, env: Environment = DEFAULT, carry: Array | None = None) -> Any:
    """The results of an instruction; operands are given in the representation of the algebra."""
    mnemonic, *modifiers = opcode.split(".")
    selection = select(mnemonic, tuple(modifiers), None, env.version, env.target)
    assert isinstance(selection, Selection), selection
    form = selection.form
    names = [o.name for o in form.operands if not o.destination]
    values: dict[str, Any] = {**selection.binding, **dict(zip(names, operands, strict=True))}
    values |= {"t": main_type(form, selection.binding), "env": env, "carry": carry}
    assert form.meaning is not None
    with np.errstate(all="ignore"):
        return form.meaning(NumpyAlgebra(), **{p: values[p] for p in form.parameters})


def ptx_1(machine: int = 90, minor: int = 4) -> Environment:
    """A module of PTX 1.x for sm_13, on a machine of some compute capability."""
    return Environment((1, minor), 13, machine)
