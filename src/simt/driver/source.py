"""From what the user gives to `Device.load` to a program that an engine can run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from simt.analysis.outline import Program
from simt.diagnostics import Diagnostic, Severity, Source
from simt.errors import PtxError, PtxFileError
from simt.imports import import_whole
from simt.machine.device import DEVICES, DeviceProperties
from simt.ptx.environment import Approximation

if TYPE_CHECKING:
    from simt.ptx.nodes import Module as Tree

# Parser, verifier and lowering are imported where they are used: most starts need none of them.

PtxSource: TypeAlias = "str | bytes | os.PathLike[str]"

_ONLY_IN_TEXT = ("\n", "\r", ";", "{", ".version", "\0")


def is_text(source: PtxSource) -> bool:
    """Whether this is PTX text: bytes always, a path object never, a string if it has a line break, a
    semicolon, a brace or a `.version` directive, which no sensible file name has (or if it is empty)."""
    if isinstance(source, str):
        return not source.strip() or any(mark in source for mark in _ONLY_IN_TEXT)
    return isinstance(source, bytes)


def read_source(source: PtxSource) -> tuple[str | bytes, str]:
    """The PTX text and the name to show for it. Raises `PtxFileError`."""
    if isinstance(source, bytes) or (isinstance(source, str) and is_text(source)):
        return source, "<ptx>"
    path = os.fspath(source)
    return read_file(path), path


def read_sources(sources: Sequence[PtxSource]) -> list[tuple[str | bytes, str]]:
    """Texts and names of several; those of texts are numbered. Raises `PtxFileError`, also for none."""
    if not sources:
        raise PtxFileError("nothing to load: expected at least one PTX file or text")
    read = [read_source(s) for s in sources]
    return [(text, f"<ptx {i}>" if name == "<ptx>" else name) for i, (text, name) in enumerate(read, 1)]


def read_file(path: str) -> bytes:
    """Raises `PtxFileError` saying why it cannot be read."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise PtxFileError(f"cannot read PTX file {path!r}: {reason}") from None


def diagnose(
    text: str | bytes, name: str, machine: int | None = None
) -> tuple[Tree | None, list[Diagnostic]]:
    """Parses and verifies; the syntax tree (None if there is none) and every finding in source order.
    `machine`: the number of the device that the program is for, if there is one."""
    import_whole("simt.ptx.parser", "simt.verify")
    from simt.ptx.parser import parse
    from simt.verify import verify

    tree, syntax = parse(text, name)
    found = list(syntax)
    if tree is not None and not syntax.errors:
        found += verify(tree, machine)
    return tree, sorted(found, key=lambda d: d.span.start)


def check_source(text: str | bytes, name: str) -> list[Diagnostic]:
    """Every finding about a PTX text, in source order, including those of lowering."""
    import_whole("simt.analysis.lower")
    from simt.analysis.lower import lower

    tree, found = diagnose(text, name)
    if tree is not None and not any(d.severity is Severity.ERROR for d in found):
        try:
            lower(tree)
        except PtxError as problem:
            found += problem.diagnostics
    return found


def compile_ptx(
    text: str | bytes, name: str, device: DeviceProperties, fmad: bool = True, approx: Approximation = "fast"
) -> tuple[Program, list[Diagnostic]]:
    """The program for a device, and warnings; `fmad` and `approx` as for `compile_files`. Raises `PtxError`
    with every diagnostic."""
    return compile_files([(text, name)], device, fmad=fmad, approx=approx)


def compile_files(
    files: Sequence[tuple[str | bytes, str]], device: DeviceProperties, as_written: bool = False,
    fmad: bool = True, approx: Approximation = "fast",
) -> tuple[Program, list[Diagnostic]]:  # fmt: skip
    """The program of texts with their names, and warnings. `as_written`: every branch stays, even to the next
    instruction. `fmad`: products and sums are fused as ptxas does it. `approx`: how approximate functions are
    computed. Raises `PtxError` with every diagnostic."""
    import_whole("simt.analysis.lower")
    from simt.analysis.lower import link

    read = [diagnose(text, name, device.number) for text, name in files]
    found = [diagnostic for _, diagnostics in read for diagnostic in diagnostics]
    trees = [tree for tree, _ in read if tree is not None]
    if len(trees) < len(read) or any(d.severity is Severity.ERROR for d in found):
        raise PtxError(found)
    program = link(trees, device.number, as_written, fmad, approx)
    for tree in trees:
        _check_target(tree, device)
    _check_constants(trees, device)
    return program, found


def _check_target(tree: Tree, device: DeviceProperties) -> None:
    from simt.analysis.lower import environment

    target = environment(tree).target
    if target > device.number:
        message = f"the module needs sm_{target} or newer, the device is {device.name}"
        able = next(d.name for d in DEVICES.values() if d.number >= target)
        hint = f"load it on simt.Device('{able}') or a newer one"
        raise PtxError(
            [Diagnostic(Severity.ERROR, message, tree.target.span, tree.source or Source(""), hint)]
        )


def _check_constants(trees: Sequence[Tree], device: DeviceProperties) -> None:
    """Constant memory is small on every device (section 5.1.3)."""
    from simt.analysis.lower_variables import round_up, size
    from simt.ptx.nodes import Variable

    used, most = 0, device.max_constant_memory
    for tree in trees:
        for item in tree.items:
            if not isinstance(item, Variable) or item.space != "const" or item.linkage == "extern":
                continue
            used = round_up(used, item.align or item.type.bytes) + size(item) * (item.count or 1)
            if used > most:
                message = (
                    f"constant variables need {used} bytes up to `{item.name}`; {device.name} has {most}"
                )
                source = tree.source or Source("")
                raise PtxError([Diagnostic(Severity.ERROR, message, item.span, source)])
