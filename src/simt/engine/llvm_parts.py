"""A module of LLVM IR as two, which are linked again when they are machine code.

How hard LLVM is to try when it makes machine code is said of a whole module. A large kernel is made in the
simplest way; the functions that it calls are short, and most of what it does.
"""

from __future__ import annotations

INLINED = " alwaysinline "
"""In the heads of functions that both modules have."""
END = "\n}\n"


def parts(text: str, attribute: str) -> tuple[str, str]:
    """The module of the functions with an attribute, and that of all others. Each declares the functions of
    the other one, and has all constants."""
    *functions, after = text.split(END)
    before, define, first = functions[0].partition("define ")
    functions[0] = define + first
    marked, unmarked = [before], [before]
    for function in functions:
        head, brace, body = function.partition("{\n")
        if INLINED in head:
            marked += [function, END]
            unmarked += [function, END]
            continue
        head = head.replace("define internal ", "define ", 1)
        its, others = (marked, unmarked) if f" {attribute} " in head else (unmarked, marked)
        its += [head, brace, body, END]
        others += [head.replace("define ", "declare ", 1), "\n"]
    return "".join((*marked, after)), "".join((*unmarked, after))
