// Satisfiability by DPLL: a thread has a formula of at most 32 variables, clauses as two masks of bits, and a stack of
// decisions; units are propagated until nothing changes.
#define MAX_DEPTH 32

struct Decision {
    unsigned yes, no;     // what was set before it
    unsigned literal;     // the variable's bit
    bool positive, flipped;
};

enum Status { OPEN, CONFLICT, SATISFIED };

__device__ Status propagate(const uint2 *clauses, int m, unsigned &yes, unsigned &no, uint2 &branch) {
    bool changed;
    do {
        changed = false;
        int best = 33;
        for (int c = 0; c < m; c++) {
            uint2 clause = clauses[c];
            if ((clause.x & yes) | (clause.y & no))
                continue;
            unsigned set = yes | no;
            unsigned free_positive = clause.x & ~set, free_negative = clause.y & ~set;
            int left = __popc(free_positive) + __popc(free_negative);
            if (left == 0)
                return CONFLICT;
            if (left == 1) {
                yes |= free_positive;
                no |= free_negative;
                changed = true;
            } else if (left < best) {
                best = left;
                branch = make_uint2(free_positive, free_negative);
            }
        }
        if (best == 33 && !changed)
            return SATISFIED;
    } while (changed);
    return OPEN;
}

extern "C" __global__ void dpll(const uint2 *__restrict__ formulas, const int *__restrict__ start, unsigned *model,
                                int *nodes, int *__restrict__ satisfiable, int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    const uint2 *clauses = formulas + start[id];
    int m = start[id + 1] - start[id];
    Decision stack[MAX_DEPTH];
    int depth = 0, visited = 0;
    unsigned yes = 0, no = 0;
    bool found = false;
    for (;;) {
        uint2 branch = make_uint2(0, 0);
        Status status = propagate(clauses, m, yes, no, branch);
        visited++;
        if (status == SATISFIED) {
            found = true;
            break;
        }
        if (status == CONFLICT) {
            while (depth > 0 && stack[depth - 1].flipped)
                depth--;
            if (depth == 0)
                break;
            Decision &d = stack[depth - 1];
            d.flipped = true;
            yes = d.yes;
            no = d.no;
            if (d.positive)
                no |= d.literal;
            else
                yes |= d.literal;
            continue;
        }
        Decision d;
        d.yes = yes;
        d.no = no;
        d.flipped = false;
        d.positive = branch.x != 0;
        unsigned from = d.positive ? branch.x : branch.y;
        d.literal = from & -from;
        stack[depth++] = d;
        if (d.positive)
            yes |= d.literal;
        else
            no |= d.literal;
    }
    model[id] = found ? yes : 0;
    nodes[id] = visited;
    satisfiable[id] = found;
}
