// Regular expressions over the lines of a log: an automaton of up to 64 states as bits of a word.
#include "native.h"

enum { PATTERNS = 4 };

typedef struct {
    ull first, last[PATTERNS], follow[64], has[256];
} Automaton;

void run(const uchar *restrict text, const int *restrict line_start, const Automaton *restrict a,
         uchar *restrict found, int *restrict end, int *restrict count, int lines) {
    ull last = a->last[0] | a->last[1] | a->last[2] | a->last[3];
    for (int line = 0; line < lines; line++) {
        ull active = 0, ended = 0;
        int first_end = -1;
        const uchar *start = text + line_start[line], *stop = text + line_start[line + 1];
        for (const uchar *p = start; p < stop && *p != '\n'; p++) {
            ull next = a->first;
            for (; active; active &= active - 1)
                next |= a->follow[__builtin_ctzll(active)];
            active = next & a->has[*p];
            if (active & last) {
                ended |= active & last;
                if (first_end < 0)
                    first_end = p - start + 1;
            }
        }
        uchar patterns = 0;
        for (int p = 0; p < PATTERNS; p++)
            if (ended & a->last[p])
                patterns |= 1 << p, count[p]++;
        found[line] = patterns;
        end[line] = first_end;
    }
}
