// Satisfiability by DPLL with masks of bits.
#include "native.h"

typedef struct {
    uint x, y;
} Clause;

typedef struct {
    uint yes, no, literal;
    int positive, flipped;
} Decision;

static int propagate(const Clause *restrict clauses, int m, uint *y, uint *n, Clause *branch) {
    uint yes = *y, no = *n;
    for (;;) {
        int changed = 0, best = 33;
        for (int c = 0; c < m; c++) {
            Clause clause = clauses[c];
            if ((clause.x & yes) | (clause.y & no))
                continue;
            uint set = yes | no, p = clause.x & ~set, q = clause.y & ~set;
            int left = __builtin_popcountll((ull)p << 32 | q);
            if (left == 0)
                return 1;
            if (left == 1) {
                yes |= p;
                no |= q;
                changed = 1;
            } else if (left < best) {
                best = left;
                *branch = (Clause){p, q};
            }
        }
        if (!changed) {
            *y = yes;
            *n = no;
            return best == 33 ? 2 : 0;
        }
    }
}

void run(const Clause *restrict formulas, const int *restrict start, uint *restrict model, int *restrict nodes,
         int *restrict satisfiable, int count) {
    for (int id = 0; id < count; id++) {
        const Clause *clauses = formulas + start[id];
        int m = start[id + 1] - start[id], depth = 0, visited = 0, found = 0;
        Decision stack[32];
        uint yes = 0, no = 0;
        for (;;) {
            Clause branch;
            int status = propagate(clauses, m, &yes, &no, &branch);
            visited++;
            if (status == 2) {
                found = 1;
                break;
            }
            Decision *d;
            int positive;
            if (status == 1) {
                while (depth > 0 && stack[depth - 1].flipped)
                    depth--;
                if (depth == 0)
                    break;
                d = stack + depth - 1;
                d->flipped = 1;
                yes = d->yes;
                no = d->no;
                positive = !d->positive;
            } else {
                d = stack + depth++;
                positive = branch.x != 0;
                uint from = positive ? branch.x : branch.y;
                *d = (Decision){yes, no, from & -from, positive, 0};
            }
            if (positive)
                yes |= d->literal;
            else
                no |= d->literal;
        }
        model[id] = found ? yes : 0;
        nodes[id] = visited;
        satisfiable[id] = found;
    }
}
