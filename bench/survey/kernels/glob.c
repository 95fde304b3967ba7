// Which of some patterns (*, ?, [a-z], [!x]) each file name matches: a pattern becomes a list of sets of bytes first.
#include "native.h"
enum { NAME = 40, PATTERN = 16, STAR = 1, END = 2, LITERAL = 3, SET = 4 };

typedef struct {
    uchar kind[PATTERN + 1], letter[PATTERN + 1];
    uint set[PATTERN + 1][8];
} Program;

static void compile(const char *p, Program *out) {
    int n = 0;
    memset(out, 0, sizeof *out);
    for (; *p; n++) {
        char c = *p++;
        uint *set = out->set[n];
        out->kind[n] = c == '*' ? STAR : c == '?' || c == '[' ? SET : LITERAL;
        out->letter[n] = c;
        if (c == '?')
            memset(set, 0xff, 32);
        if (c != '[')
            continue;
        int negated = *p == '!';
        p += negated;
        do {
            uchar low = *p++, high = low;
            if (*p == '-' && p[1] != ']')
                high = p[1], p += 2;
            for (int k = low; k <= high; k++)
                set[k >> 5] |= 1u << (k & 31);
        } while (*p != ']' && *p);
        p++;
        for (int k = 0; k < 8 && negated; k++)
            set[k] = ~set[k];
    }
    out->kind[n] = END;
}

static int matches(const Program *restrict p, const uchar *restrict s) {
    int at = 0, star = -1;
    const uchar *retry = s;
    while (*s) {
        int kind = p->kind[at];
        if (kind == STAR) {
            star = ++at, retry = s;
            if (p->kind[at] == END)
                return 1;
            continue;
        }
        int ok = kind == LITERAL ? *s == p->letter[at] : p->set[at][*s >> 5] >> (*s & 31) & 1;
        if (ok)
            at++, s++;
        else if (star < 0)
            return 0;
        else
            at = star, s = ++retry;
    }
    while (p->kind[at] == STAR)
        at++;
    return p->kind[at] == END;
}

void run(const char *restrict names, const char *restrict patterns, uint *restrict bits, int *restrict counts, int n,
         int num_patterns) {
    Program programs[32];
    for (int p = 0; p < num_patterns; p++)
        compile(patterns + p * PATTERN, programs + p);
    for (int i = 0; i < n; i++) {
        uint found = 0;
        for (int p = 0; p < num_patterns; p++)
            found |= (uint)matches(programs + p, (const uchar *)names + (long)i * NAME) << p;
        bits[i] = found;
        for (uint rest = found; rest; rest &= rest - 1)
            counts[__builtin_ctz(rest)]++;
    }
}
