// ILIKE for a column of strings: the pattern is made lower case once, and after a `%` the next character is looked for.
#include "native.h"
enum { ANY = 256, MANY = 257 };

static uchar lower[256];

static int like(const uchar *restrict text, int length, const short *restrict pattern) {
    int t = 0, p = 0, star = -1, star_text = 0;
    while (t < length) {
        int c = pattern[p];
        if (c == MANY) {
            star = ++p;
            c = pattern[p];
            if (c < 0)
                return 1;
            if (c < ANY)
                while (t < length && lower[text[t]] != c)
                    t++;
            star_text = t;
        } else if (c == ANY || c == lower[text[t]]) {
            p++;
            t++;
        } else {
            if (star < 0)
                return 0;
            t = star_text + 1;
            p = star;
            if (pattern[p] < ANY)
                while (t < length && lower[text[t]] != pattern[p])
                    t++;
            star_text = t;
        }
    }
    while (pattern[p] == MANY)
        p++;
    return pattern[p] < 0;
}

void run(const int *restrict offsets, const uchar *restrict bytes, const uint *restrict validity,
         const uchar *restrict patterns, const int *restrict starts, uint *restrict selection, int *restrict selected,
         int rows, int count) {
    for (int i = 0; i < 256; i++)
        lower[i] = i >= 'A' && i <= 'Z' ? i + 32 : i;
    int words = (rows + 31) / 32;
    for (int k = 0; k < count; k++) {
        short pattern[256];
        int m = 0;
        for (int i = starts[k]; i < starts[k + 1]; i++) {
            uchar c = patterns[i];
            if (c == '\\' && i + 1 < starts[k + 1])
                pattern[m++] = lower[patterns[++i]];
            else
                pattern[m++] = c == '%' ? MANY : c == '_' ? ANY : lower[c];
        }
        pattern[m] = -1;
        int total = 0;
        for (int w = 0; w < words; w++) {
            uint word = 0;
            for (int row = 32 * w; row < MIN(rows, 32 * w + 32); row++)
                if (validity[w] >> (row & 31) & 1)
                    word |= (uint)like(bytes + offsets[row], offsets[row + 1] - offsets[row], pattern) << (row & 31);
            selection[(long)k * words + w] = word;
            total += __builtin_popcount(word);
        }
        selected[k] = total;
    }
}
