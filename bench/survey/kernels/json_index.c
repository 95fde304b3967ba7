// The structural index of JSON lines: 64 bytes at a time as masks of bits, made from comparisons of bytes in vectors.
#include "native.h"

static inline ull gather(const uchar *restrict flags) {
    ull mask = 0;
    for (int k = 0; k < 8; k++) {
        ull eight;
        memcpy(&eight, flags + 8 * k, 8);
        mask |= (eight * 0x0102040810204080 >> 56) << 8 * k;  // the lowest bits of eight bytes side by side
    }
    return mask;
}

void run(const uchar *restrict text, uint *restrict index, int *restrict total, int words) {
    int escaped = 0, count = 0;
    ull inside_before = 0;
    for (int w = 0; w < words; w++) {
        const uchar *s = text + (long)w * 64;
        uchar is_quote[64], is_mark[64], is_back[64];
#pragma omp simd
        for (int i = 0; i < 64; i++) {
            uchar c = s[i];
            is_quote[i] = c == '"';
            is_back[i] = c == '\\';
            is_mark[i] = ((c | 0x20) == '{') | ((c | 0x20) == '}') | (c == ':') | (c == ',');
        }
        ull quote = gather(is_quote), marks = gather(is_mark), back = gather(is_back), escape = 0;
        if (back | escaped) {  // rare
            escape = escaped;
            escaped = 0;
            for (ull rest = back; rest; rest &= rest - 1) {
                int at = __builtin_ctzll(rest);
                if (escape >> at & 1)
                    continue;
                if (at == 63)
                    escaped = 1;
                else
                    escape |= 2ull << at;
            }
        }
        quote &= ~escape;
        ull inside = quote;
        for (int shift = 1; shift < 64; shift *= 2)
            inside ^= inside << shift;
        inside ^= inside_before;
        inside_before = (ull)((long long)inside >> 63);
        for (ull mask = (marks & ~inside) | (quote & inside); mask; mask &= mask - 1)
            index[count++] = w * 64 + __builtin_ctzll(mask);
    }
    *total = count;
}
