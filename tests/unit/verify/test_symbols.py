"""Scopes: what a name stands for, where it is known, and what hides it."""

from __future__ import annotations

from simt.ptx import nodes
from simt.ptx.nodes import Block, Function, Label, Module, Target, Variable
from simt.ptx.symbols import Scope, Scopes, Symbol, SymbolKind, parameter_scope
from simt.ptx.types import TYPES


def reg(name: str, kind: str = "u32", count: int | None = None, vector: int = 1) -> Variable:
    return Variable("reg", TYPES[kind], name, count=count, vector=vector)


def scope_with(*variables: Variable) -> Scope:
    scope = Scope()
    for v in variables:
        assert scope.declare(v) is None
    return scope


def found(scope: Scope, name: str) -> Symbol:
    symbol = scope.lookup(name)
    assert symbol is not None, name
    return symbol


def test_a_register_has_its_kind_type_and_vector_size() -> None:
    symbol = found(scope_with(reg("v", "f32", vector=4)), "v")
    assert (symbol.kind, symbol.type, symbol.vector) == (SymbolKind.REGISTER, TYPES["f32"], 4)


def test_members_of_a_parameterised_name_end_at_its_count() -> None:
    scope = scope_with(reg("%r", count=100))
    assert found(scope, "%r0").type is TYPES["u32"]
    assert found(scope, "%r99").name == "%r99"
    for absent in ("%r100", "%r", "%r-1", "%rx", "%r1x", "%r²", "%r" + "9" * 10_000):
        assert scope.lookup(absent) is None, absent


def test_a_huge_parameterised_name_costs_nothing() -> None:
    assert found(scope_with(reg("%r", count=2**31)), "%r99999999").name == "%r99999999"


def test_leading_zeros_name_the_same_register() -> None:
    scope = scope_with(reg("%r", count=4))
    assert found(scope, "%r03") is found(scope, "%r3")
    assert found(scope, "%r3").name == "%r3"


def test_a_prefix_may_end_in_a_digit() -> None:
    scope = scope_with(reg("x1", count=3))
    assert found(scope, "x12").name == "x12"
    assert scope.lookup("x13") is None


def test_the_same_name_is_the_same_symbol() -> None:
    scope = scope_with(reg("a"), reg("%r", count=2))
    assert found(scope, "a") is found(scope, "a")
    assert found(scope, "%r1") is found(scope, "%r1")
    assert found(scope, "%r1") is not found(scope, "%r0")


def test_an_inner_scope_hides_and_ends() -> None:
    outer = scope_with(reg("a"))
    inner = outer.enter(Block(()))
    assert found(inner, "a") is found(outer, "a")
    assert inner.declare(reg("a", "f32")) is None
    assert found(inner, "a").type is TYPES["f32"]
    assert found(outer, "a").type is TYPES["u32"]


def test_labels_are_known_in_their_whole_block_and_not_outside() -> None:
    inner_block = Block((Label("IN"),))
    body = Scope().enter(Block((inner_block, Label("OUT"))))
    inner = body.enter(inner_block)
    assert found(inner, "OUT").kind is SymbolKind.LABEL
    assert found(inner, "IN").kind is SymbolKind.LABEL
    assert body.lookup("IN") is None


def test_repeated_names_give_back_the_first() -> None:
    scope = scope_with(reg("a"), reg("%r", count=4))
    assert scope.declare(reg("a", "f32")) is found(scope, "a")
    assert scope.declare(reg("%r2")) is found(scope, "%r2")
    assert scope.declare(reg("%r", count=9)) is not None
    late = scope_with(reg("%q2"))
    assert late.declare(reg("%q", count=3)) is found(late, "%q2")


def test_a_definition_takes_the_place_of_a_declaration() -> None:
    declared = Function("func", "f")
    defined = Function("func", "f", body=Block(()))
    for order in ((declared, defined), (defined, declared)):
        scope = Scope()
        for function in order:
            scope.declare(function)
        assert found(scope, "f").node is defined
    external = Variable("global", TYPES["u32"], "g", linkage="extern")
    definition = Variable("global", TYPES["u32"], "g", linkage="visible")
    scope = Scope()
    scope.declare(external)
    scope.declare(definition)
    assert found(scope, "g").node is definition


def test_parameters_lie_between_module_and_body() -> None:
    function = Function("entry", "k", parameters=(Variable("param", TYPES["u64"], "p"),), body=Block(()))
    module = Module((1, 4), Target(("sm_13",)), (Variable("global", TYPES["u32"], "p"), function))
    scopes = Scopes(module)
    assert found(scopes.module, "p").space == "global"
    assert found(scopes.function(function), "p").space == "param"
    assert found(parameter_scope(scopes.module, function), "k").kind is SymbolKind.FUNCTION


def test_prototypes_and_target_lists_are_names() -> None:
    scope = Scope()
    scope.declare(nodes.CallPrototype("P", (), ()))
    scope.declare(nodes.TargetList("T", "branchtargets", (nodes.Name("L"),)))
    assert found(scope, "P").kind is SymbolKind.PROTOTYPE
    assert found(scope, "T").kind is SymbolKind.TARGETS
