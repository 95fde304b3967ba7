"""By how much addresses change from one turn of a loop to the next.

The rules are those by which values change from lane to lane (`simt.analysis.shape_algebra`), with turns for
lanes: what the loop does not change is uniform, and a counter goes on by a stride.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import FunctionAddress, Op, Register, SymbolAddress
from simt.analysis.schedule import Loop
from simt.analysis.shape import UNIFORM, VARYING, BlockShape, Hold, Shape, constant
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Definition, Ssa
from simt.isa.algebra import Environment

LONGEST = 12
"""Instructions from what a turn begins with to an address, or to what the next turn begins with, beyond which
nothing is found out."""
COUNTER = Shape(1, 1)
"""What goes on by 1."""
Inputs = Callable[[Definition, Loop, int], Shape]
Numbers = Callable[[Definition], int | None]


def _unknown(definition: Definition) -> int | None:
    return None


class Turns:
    """The steps by which the addresses of a function's loops go on. `number_of`: the value of a definition
    that has always the same (`%ntid.x`)."""

    def __init__(self, ssa: Ssa, environment: Environment, number_of: Numbers = _unknown) -> None:
        self.ssa = ssa
        self.environment = environment
        self.number_of = number_of
        self._known: dict[tuple[Definition, int], Shape] = {}  # by the loop's header's index

    def step(self, address: Definition, loop: Loop) -> int | None:
        """By how many bytes an address goes on in each turn of the loop around it; None: not known."""
        shape = self._of(address, loop, LONGEST)
        return shape.stride if shape.width == 1 and shape.hold <= Hold.GUARDED else None

    def is_sure(self, address: Definition, loop: Loop) -> bool:
        """Whether an address that goes on by a step does so in any case: it is made of nothing that may
        wrap."""
        return self._of(address, loop, LONGEST).exact

    def _of(self, definition: Definition, loop: Loop, left: int) -> Shape:
        key = definition, loop.header.index
        if key not in self._known:
            if definition.is_phi and definition.block is loop.header:
                self._known[key] = self._of_phi(definition, loop)
            else:
                self._known[key] = self._made(definition, loop, self._of, left)
        return self._known[key]

    def _made(self, definition: Definition, loop: Loop, of: Inputs, left: int) -> Shape:
        """What is made of others in a turn, or not in the loop at all. `of`: its inputs, of which there are
        up to `left` behind each other."""
        position, op = self.ssa.schedule.position[definition.block.index], definition.origin
        if not loop.first <= position <= loop.last:
            number = self.number_of(definition)
            return UNIFORM if number is None else constant(number)
        if not isinstance(op, Op) or op.guard is not None or op.form.effects or not left:
            return VARYING
        reader = _Reader(lambda source: of(source, loop, left - 1), self.ssa.read[id(op)])
        return Evaluator(_TurnAlgebra(), reader, self.environment).op(op)[definition.place]

    def _of_phi(self, phi: Definition, loop: Loop) -> Shape:
        position = self.ssa.schedule.position
        turns = (value for block, value in phi.inputs.items() if loop.first <= position[block] <= loop.last)
        steps = {self._increase(phi, value, loop) for value in turns}
        (step,) = steps if len(steps) == 1 else (None,)
        return VARYING if step is None else Shape(1, step)

    def _increase(self, phi: Definition, value: Definition, loop: Loop) -> int | None:
        """By which constant a value is more than a phi, if it is: it goes on as the phi does, and is that
        constant where the phi is 0."""
        if self._if_phi_is(COUNTER, phi, value, loop) != COUNTER:
            return None
        number, bits = self._if_phi_is(constant(0), phi, value, loop).const, phi.register.type.bits
        return None if number is None else (number + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)

    def growth(self, phi: Definition, loop: Loop) -> tuple[bool, int | None]:
        """Whether a value at a loop's header is more in each turn by what the loop does not change; and that
        number, if it is known."""
        position = self.ssa.schedule.position
        turns = [value for block, value in phi.inputs.items() if loop.first <= position[block] <= loop.last]
        if not all(self._if_phi_is(COUNTER, phi, value, loop).stride == 1 for value in turns):
            return False, None
        steps = {self._increase(phi, value, loop) for value in turns}
        return True, steps.pop() if len(steps) == 1 else None

    def adds_to(self, source: Definition, op: Op) -> bool:
        """Whether what an op gives is one of the things that it reads, and something added to that."""

        def shape(read: Definition) -> Shape:
            return COUNTER if read is source else UNIFORM

        reader = _Reader(shape, self.ssa.read[id(op)])
        return Evaluator(_TurnAlgebra(), reader, self.environment).op(op) == (COUNTER,)

    def _if_phi_is(self, shape: Shape, phi: Definition, value: Definition, loop: Loop) -> Shape:
        known = dict[tuple[Definition, int], Shape]()

        def of(definition: Definition, loop: Loop, left: int) -> Shape:
            if definition.is_phi and definition.block is loop.header:
                return shape if definition is phi else VARYING
            if (definition, left) not in known:
                known[definition, left] = self._made(definition, loop, of, left)
            return known[definition, left]

        return of(value, loop, LONGEST)


class _TurnAlgebra(ShapeAlgebra):
    """Special registers are the same in all turns. (Those of clocks are no part of addresses.)"""

    def __init__(self) -> None:
        super().__init__(BlockShape(1, 1, 1), uniform_loads=False)

    def special(self, name: str, component: str) -> Shape:
        return UNIFORM


class _Reader:
    """What an op reads. `shape`: of a definition."""

    def __init__(self, shape: Callable[[Definition], Shape], read: dict[Register, Definition]) -> None:
        self.shape = shape
        self.read = read

    def register(self, register: Register) -> Shape:
        return self.shape(self.read[register])

    def symbol(self, symbol: SymbolAddress) -> Shape:
        return UNIFORM

    def function(self, function: FunctionAddress) -> Shape:
        return UNIFORM


def shapes_of(read: dict[Register, Definition], known: Mapping[Definition, Shape]) -> _Reader:
    """A reader of what an op reads, of which all is the same in all turns but what is known not to be."""
    return _Reader(lambda definition: known.get(definition, UNIFORM), read)
