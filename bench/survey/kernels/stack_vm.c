#include "native.h"

enum { PUSH, LOAD, ADD, SUB, MUL, DIV, NEG, SQRT, MAX_OF, LESS, DUP, SWAP, JUMP_IF_ZERO, JUMP, END };

typedef struct {
    int op;
    float arg;
} Instruction;

static const Instruction program[] = {
    {LOAD, 3}, {PUSH, 0.6f}, {LESS, 0}, {JUMP_IF_ZERO, 15}, {LOAD, 0}, {DUP, 0}, {MUL, 0}, {LOAD, 1}, {DUP, 0},
    {MUL, 0}, {ADD, 0}, {SQRT, 0}, {LOAD, 2}, {PUSH, 1.0f}, {JUMP, 22},
    {LOAD, 4}, {LOAD, 5}, {SUB, 0}, {PUSH, 0.25f}, {MAX_OF, 0}, {PUSH, 3.0f}, {JUMP, 25},
    {ADD, 0}, {DIV, 0}, {END, 0}, {MUL, 0}, {END, 0},
    {LOAD, 0}, {PUSH, 1.0f}, {ADD, 0},
    {DUP, 0}, {LOAD, 1}, {PUSH, 8.0f}, {ADD, 0}, {LESS, 0}, {JUMP_IF_ZERO, 39},
    {DUP, 0}, {ADD, 0}, {JUMP, 30},
    {LOAD, 6}, {SWAP, 0}, {SUB, 0}, {NEG, 0}, {END, 0},
};

// The top of the stack is in a register, the next instruction is gone to from each one.
static float evaluate(const Instruction *in, const float *data) {
    static const void *const labels[] = {&&push, &&load, &&add, &&sub, &&mul, &&div, &&neg, &&root,
                                         &&max, &&less, &&dup, &&swap, &&jump_if_zero, &&jump, &&end};
    float stack[17], *sp = stack, top = 0, other;
#define NEXT in++; goto *labels[in->op]
    goto *labels[in->op];
push:
    *sp++ = top;
    top = in->arg;
    NEXT;
load:
    *sp++ = top;
    top = data[(int)in->arg];
    NEXT;
add:
    top = *--sp + top;
    NEXT;
sub:
    top = *--sp - top;
    NEXT;
mul:
    top = *--sp * top;
    NEXT;
div:
    top = *--sp / top;
    NEXT;
neg:
    top = -top;
    NEXT;
root:
    top = sqrtf(top);
    NEXT;
max:
    other = *--sp;
    top = other > top ? other : top;
    NEXT;
less:
    top = *--sp < top;
    NEXT;
dup:
    *sp++ = top;
    NEXT;
swap:
    other = sp[-1];
    sp[-1] = top;
    top = other;
    NEXT;
jump_if_zero:
    other = top;
    top = *--sp;
    if (other == 0) {
        in = program + (int)in->arg;
        goto *labels[in->op];
    }
    NEXT;
jump:
    in = program + (int)in->arg;
    goto *labels[in->op];
end:
    return top;
}

void run(const float *restrict table, float *restrict first, float *restrict second, int rows, int columns) {
    for (int row = 0; row < rows; row++)
        first[row] = evaluate(program, table + (long)row * columns);
    for (int row = 0; row < rows; row++)
        second[row] = evaluate(program + 27, table + (long)row * columns);
}
