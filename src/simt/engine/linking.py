"""Object code put into memory by LLVM's linker: for machines that `simt.engine.placing` does not know."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from simt.engine.compile import target_machine
from simt.engine.host import Cpu
from simt.engine.library import llvm

_names = itertools.count()


def link(images: Sequence[bytes], names: Sequence[str], cpu: Cpu) -> tuple[list[int], object]:
    """Addresses of functions of objects that belong together, and what keeps their code alive."""
    library = llvm.JITLibraryBuilder().add_current_process()
    for image in images:
        library.add_object_img(image)
    for name in names:
        library.export_symbol(name)
    tracker = library.link(_linker(cpu), f"simt{next(_names)}")
    return [cast("int", tracker[name]) for name in names], tracker


@cache
def _linker(cpu: Cpu) -> Any:
    """LLVM's linker. The other one that it has puts each section of an object somewhere, and ends the process
    where one is too far from another for code whose calls are near; and it takes longer."""
    return llvm.create_lljit_compiler(target_machine(cpu), use_jit_link=cpu.on_linux)
