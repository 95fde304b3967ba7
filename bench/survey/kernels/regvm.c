// A machine of eight registers: code that jumps to the addresses of labels.
#include "native.h"

typedef struct {
    uchar op, a, b, c;
    int immediate;
} Instruction;

void run(const Instruction *restrict program, const int *restrict inputs, long long *restrict results,
         int *restrict steps, int n, int limit) {
    static void *const labels[] = {&&halt, &&set, &&add, &&sub, &&mul, &&mod, &&load, &&store, &&less, &&zero};
    for (int id = 0; id < n; id++) {
        long long reg[8] = {inputs[2 * id], inputs[2 * id + 1]};
        int memory[16] = {0}, count = 0, flags = 0;
        const Instruction *i = program, *next = program;
#define NEXT                                                                                                     \
    do {                                                                                                         \
        if (count >= limit)                                                                                      \
            goto done;                                                                                           \
        count++, i = next++;                                                                                     \
        goto *labels[i->op];                                                                                     \
    } while (0)
        NEXT;
    set:
        reg[i->a] = i->immediate;
        NEXT;
    add:
        reg[i->a] = reg[i->b] + reg[i->c];
        NEXT;
    sub:
        reg[i->a] = reg[i->b] - reg[i->c];
        NEXT;
    mul:
        reg[i->a] = reg[i->b] * reg[i->c];
        NEXT;
    mod:
        if (reg[i->c] == 0) {
            flags = 1;
            goto halt;
        }
        reg[i->a] = reg[i->b] % reg[i->c];
        NEXT;
    load:
        reg[i->a] = memory[reg[i->b] & 15];
        NEXT;
    store:
        memory[reg[i->b] & 15] = (int)reg[i->a];
        NEXT;
    less:
        if (reg[i->a] < reg[i->b])
            next = program + i->immediate;
        NEXT;
    zero:
        if (reg[i->a] == 0)
            next = program + i->immediate;
        NEXT;
    halt:
    done:
        results[id] = flags ? -1 : reg[7];
        steps[id] = count;
    }
}
