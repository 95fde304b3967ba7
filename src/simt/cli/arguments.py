"""A launch on the command line: which kernel of a file, and its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from simt.cli.values import SYNTAX, HostValue, parse_shape, parse_value
from simt.driver.kernel import Kernel
from simt.driver.module import Module

ARGUMENTS = (
    """\b
Arguments:
  Each NAME=VALUE is for the parameter of that name, as the PTX declares it; param_2 or 2 stand for
  the third one. If no name is one of these (nvcc calls parameters <kernel>_param_0), the arguments
  are taken in order, and the names are yours.

"""
    + SYNTAX
)


def as_shape(_context: click.Context, _option: click.Parameter, text: str) -> tuple[int, ...]:
    """The shape that an option gives."""
    return parse_shape(text)


def split_words(words: Sequence[str]) -> tuple[str | None, list[tuple[str, str]]]:
    """The kernel's name, if the first word is one, and the arguments as names and values."""
    name = words[0] if words and "=" not in words[0] else None
    pairs = [w.partition("=") for w in words[name is not None :]]
    for left, equals, _ in pairs:
        if not equals or not left:
            raise click.UsageError(f"bad argument {left!r}: expected NAME=VALUE")
    names = [p[0] for p in pairs]
    for repeated in {n for n in names if names.count(n) > 1}:
        raise click.UsageError(f"argument {repeated!r} is given twice")
    return name, [(left, right) for left, _, right in pairs]


def parse_values(pairs: Sequence[tuple[str, str]], seed: int) -> dict[str, HostValue]:
    random = np.random.default_rng(seed)
    return {name: parse_value(text, random) for name, text in pairs}


def choose(module: Module, name: str | None) -> Kernel:
    if name is None and len(module.kernels) != 1:
        listed = ", ".join(map(_described, map(module.__getitem__, module.kernels))) or "none"
        raise click.UsageError(f"name one kernel of {module.program.text.name}: it has {listed}")
    return module[module.kernels[0] if name is None else name]


def _described(kernel: Kernel) -> str:
    """A kernel's name, and whether it cannot be launched."""
    return f"{kernel.name} (not run: {kernel.unsupported[0]})" if kernel.unsupported else kernel.name


def ordered(kernel: Kernel, arguments: dict[str, Any]) -> list[Any]:
    """The arguments in the parameters' order: by name if the names are parameters, else as given."""
    index: dict[str, int] = {}
    for i, parameter in enumerate(kernel.params):
        index.update({parameter.name: i, f"param_{i}": i, str(i): i})
    known = [name for name in arguments if name in index]
    if not known:
        return list(arguments.values())
    unknown = [name for name in arguments if name not in index]
    if unknown:
        names = ", ".join(p.name for p in kernel.params)
        raise click.UsageError(f"{kernel.name} has no parameter {unknown[0]!r}: its parameters are {names}")
    return _by_position(kernel, {index[name]: value for name, value in arguments.items()})


def _by_position(kernel: Kernel, values: dict[int, Any]) -> list[Any]:
    missing = [p.name for i, p in enumerate(kernel.params) if i not in values]
    if missing:
        raise click.UsageError(f"no value for parameter {', '.join(missing)} of {kernel.name}")
    return [values[i] for i in range(len(kernel.params))]
