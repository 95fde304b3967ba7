"""The PTX files of a command line: `-` is standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from simt.driver.device import Device
from simt.driver.module import Module
from simt.driver.source import read_file
from simt.errors import PtxFileError

STANDARD_INPUT = "-"


def load(device: Device, files: Sequence[str]) -> Module:
    """Loads files, linked if they are several. Raises `PtxFileError`, `PtxError`."""
    check_once(files)
    return device.load_texts([(read(name), shown(name)) for name in files])


def check_once(files: Sequence[str]) -> None:
    """What was read from standard input is not there any more. Raises `click.UsageError`."""
    if files.count(STANDARD_INPUT) > 1:
        raise click.UsageError("standard input (-) can be read once only")


def shown(name: str) -> str:
    """How messages call a file."""
    return "<stdin>" if name == STANDARD_INPUT else name


def read(name: str) -> bytes:
    """What a file holds. Raises `PtxFileError`."""
    if name != STANDARD_INPUT:
        return read_file(name)
    if sys.stdin is None:  # closed by the caller: `simt ... <&-`
        raise PtxFileError("cannot read PTX from standard input: it is closed")
    try:
        return sys.stdin.buffer.read()
    except OSError as problem:
        raise PtxFileError(f"cannot read PTX from standard input: {problem.strerror}") from None
