// Recalibration of base qualities by counts of mismatches.
#include "native.h"

enum { QUALITIES = 48, CONTEXTS = 16, CYCLES = 160 };

typedef struct {
    uint seen, wrong;
} Tally;

static float phred(Tally t) {
    return -10 * log10f((t.wrong + 1.0f) / (t.seen + 2.0f));
}

void run(const uint8_t *restrict reads, const int *restrict position, const uint8_t *restrict reference,
         const uint *restrict known, Tally *restrict by_quality, Tally *restrict by_cycle, Tally *restrict by_context,
         float *restrict quality_shift, float *restrict cycle_shift, float *restrict context_shift,
         uint8_t *restrict out, int count, int length) {
    for (int r = 0; r < count; r++) {
        const uint8_t *bases = reads + (size_t)r * length;
        for (int c = 0; c < length; c++) {
            int q = bases[c] >> 2, base = bases[c] & 3, at = position[r] + c;
            if (q < 6 || known[at >> 5] >> (at & 31) & 1)
                continue;
            int wrong = base != reference[at];
            by_quality[q].seen++;
            by_quality[q].wrong += wrong;
            by_cycle[q * CYCLES + c].seen++;
            by_cycle[q * CYCLES + c].wrong += wrong;
            if (c > 0) {
                Tally *t = by_context + q * CONTEXTS + (bases[c - 1] & 3) * 4 + base;
                t->seen++;
                t->wrong += wrong;
            }
        }
    }
    for (int q = 0; q < QUALITIES; q++) {
        float base = quality_shift[q] = by_quality[q].seen >= 100 ? phred(by_quality[q]) : q;
        for (int c = 0; c < length; c++) {
            Tally t = by_cycle[q * CYCLES + c];
            cycle_shift[q * CYCLES + c] = t.seen >= 30 ? phred(t) - base : 0;
        }
        for (int c = 0; c < CONTEXTS; c++) {
            Tally t = by_context[q * CONTEXTS + c];
            context_shift[q * CONTEXTS + c] = t.seen >= 30 ? phred(t) - base : 0;
        }
    }
    for (int r = 0; r < count; r++) {
        const uint8_t *bases = reads + (size_t)r * length;
        uint8_t *to = out + (size_t)r * length;
        for (int c = 0; c < length; c++) {
            int q = bases[c] >> 2;
            float estimate = quality_shift[q] + cycle_shift[q * CYCLES + c];
            if (c > 0)
                estimate += context_shift[q * CONTEXTS + (bases[c - 1] & 3) * 4 + (bases[c] & 3)];
            int rounded = rintf(estimate);
            to[c] = q < 6 ? q : MIN(MAX(rounded, 1), 60);
        }
    }
}
