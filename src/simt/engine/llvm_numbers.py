"""Numbers that large functions repeat for all lanes.

LLVM keeps each vector of numbers of a function once, and looks for it among all others, one after another. A
function with thousands of different numbers loads them from a table, from the `FEW`th on.
"""

from __future__ import annotations

from collections import defaultdict

from simt.engine.llvm_builder import ModuleText, Value
from simt.records import dataclass, field

FEW = 64


@dataclass
class Numbers:
    """Numbers of the functions of a module as text, by their type, in the order of the table."""

    module: ModuleText
    known: dict[str, dict[str, int]] = field(
        default_factory=lambda: defaultdict[str, dict[str, int]](dict[str, int])
    )

    def place(self, value: Value) -> str | None:
        """A pointer to a number, None if it is to stand in the code: so do zero and minus one, which are not
        kept, and the first ones of each type."""
        if value.type == "i1" or value.ir in ("0", "-1"):
            return None
        known = self.known[value.type]
        number = known.setdefault(value.ir, len(known)) - FEW
        if number < 0:
            return None
        return f"getelementptr ({value.type}, ptr @simt.numbers.{value.type}, i64 {number})"

    def define(self) -> None:
        """Puts the tables into the module. LLVM is not to know what they hold: it would put numbers back."""
        for element, known in self.known.items():
            items = [f"{element} {text}" for text in list(known)[FEW:]]
            if items:
                kind = f"private externally_initialized constant [{len(items)} x {element}]"
                self.module.constant(f"simt.numbers.{element}", f"{kind} [{', '.join(items)}]")
