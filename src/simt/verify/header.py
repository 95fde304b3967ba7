"""Rules for `.version`, `.target` and `.address_size` (tables 106 and 107)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simt.diagnostics import Span
from simt.isa.catalogue import requirement
from simt.isa.form import Requirement, Version
from simt.isa.targets import FIRST_DOUBLE_TARGET, NEWEST, OPTIONS, Platform, parse_platform, version_problem
from simt.ptx.nodes import File, Module, Pragma, Target
from simt.verify.context import Context, Problem, dotted, requirement_problems

ADDRESS_SIZE_SINCE: Version = (2, 3)
PRAGMAS_SINCE: Version = (2, 0)
_VERSION = r"^[ \t]*(\.version[ \t]*[\d.]*)"
_ADDRESS_SIZE = r"^[ \t]*(\.address_size[ \t]*\d*)"


def module_problems(context: Context, module: Module) -> Iterator[Problem]:
    """The head of the module; sets the context's target."""
    unknown = version_problem(module.version)
    if unknown is not None:
        hint = None if module.version < NEWEST else f"what came after PTX {dotted(NEWEST)} is not known here"
        yield Problem(unknown, _head(context, _VERSION), hint, warning=module.version > NEWEST)
    yield from target_problems(context, module.target)
    size = module.address_size
    if size is not None and module.version < ADDRESS_SIZE_SINCE:
        message = f"`.address_size` requires PTX ISA {dotted(ADDRESS_SIZE_SINCE)} or later"
        yield Problem(
            f"{message}, the module's .version is {context.version_name}", _head(context, _ADDRESS_SIZE)
        )
    if size not in (None, 32, 64):
        yield Problem(
            f"addresses cannot have {size} bits", _head(context, _ADDRESS_SIZE), "expected 32 or 64"
        )


def _head(context: Context, directive: str) -> Span:
    """The place of a directive of the module's head; the whole module if it does not start a line."""
    found = re.search(directive, context.diagnostics.source.text, re.MULTILINE)
    return Span(*found.span(1)) if found else context.module.span


def target_problems(context: Context, target: Target) -> Iterator[Problem]:
    """One `.target` directive; the following instructions are checked against it."""
    platform = parse_platform(target.names)
    if isinstance(platform, str):
        yield Problem(platform, target.span)
        return
    context.target = platform.target.number
    context.target_name = str(platform.target)
    context.map_f64_to_f32 = platform.map_f64_to_f32
    context.independent = context.independent or platform.texmode == "independent"
    yield from _platform(context, target, platform)


def _platform(context: Context, target: Target, platform: Platform) -> Iterator[Problem]:
    if platform.target.introduced > context.version:
        needed = dotted(platform.target.introduced)
        message = f"target {platform.target} requires PTX ISA {needed} or later"
        yield Problem(f"{message}, the module's .version is {context.version_name}", target.span)
    if platform.map_f64_to_f32 and platform.target.number >= FIRST_DOUBLE_TARGET:
        message = f"map_f64_to_f32 is not allowed for {platform.target}, which has double precision"
        yield Problem(message, target.span)
    for option in target.names:
        if OPTIONS.get(option, (0, 0)) > context.version:
            yield Problem(f"`{option}` requires PTX ISA {dotted(OPTIONS[option])} or later", target.span)


DIRECTIVES: dict[str, Requirement] = {
    "callprototype": requirement("2.1 sm_20"),
    "calltargets": requirement("2.1 sm_20"),
    "branchtargets": requirement("6.0 sm_30"),
    "alias": requirement("6.3 sm_30"),
}
ATTRIBUTES: dict[str, Requirement] = {
    "managed": requirement("4.0 sm_30"),
    "unified": requirement("9.0 sm_90"),
}


def directive_problems(context: Context, name: str, span: Span) -> Iterator[Problem]:
    """Versions and targets that have a directive."""
    yield from requirement_problems(context, f"`.{name}`", DIRECTIVES[name], span)


def attribute_problems(context: Context, attributes: tuple[str, ...], span: Span) -> Iterator[Problem]:
    """Versions and targets that have the attributes of a variable or function."""
    for attribute in attributes:
        name = attribute.lstrip(".").partition("(")[0]
        if name not in ATTRIBUTES:
            yield Problem(
                f"unknown attribute `.{name}`", span, f"expected one of {' '.join(sorted(ATTRIBUTES))}"
            )
        else:
            yield from requirement_problems(context, f"attribute `.{name}`", ATTRIBUTES[name], span)


def pragma_problems(context: Context, pragma: Pragma) -> Iterator[Problem]:
    """Pragmas came with PTX 2.0."""
    if context.version < PRAGMAS_SINCE:
        message = f"`.pragma` requires PTX ISA {dotted(PRAGMAS_SINCE)} or later"
        yield Problem(f"{message}, the module's .version is {context.version_name}", pragma.span)


def file_problems(seen: dict[int, File], file: File) -> Iterator[Problem]:
    """Every file of `.loc` has a number of its own. `seen`: the earlier ones."""
    if file.index is None:
        return
    if file.index in seen:
        yield Problem(f"file {file.index} is declared twice", file.span)
    seen[file.index] = file
