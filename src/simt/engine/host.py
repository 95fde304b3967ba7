"""The CPU that compiled code is for."""

from __future__ import annotations

import platform
from typing import cast

import llvmlite.binding as llvm


def host_features() -> frozenset[str]:
    """Features of this machine's CPU, as `LlvmAlgebra` asks for them."""
    features = cast("dict[str, bool]", llvm.get_host_cpu_features())
    enabled = {name for name, on in features.items() if on}
    if platform.machine().lower() in ("aarch64", "arm64"):
        enabled |= {"fma", "round"}
    return frozenset(enabled)
