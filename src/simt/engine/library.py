"""LLVM's library, through llvmlite. To load it takes 50 to 100 ms, so only what needs it imports this."""

from __future__ import annotations

from typing import Any

import llvmlite.binding

from simt.engine.forking import wait_for_llvm

llvm: Any = llvmlite.binding
"""Its functions carry no types."""
wait_for_llvm()
