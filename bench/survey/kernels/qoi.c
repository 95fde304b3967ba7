#include "native.h"

void run(const uchar *restrict bytes, const uint *restrict offsets, uint *restrict out, int strips,
         int pixels_per_strip) {
    for (int strip = 0; strip < strips; strip++) {
        const uchar *at = bytes + offsets[strip], *end = bytes + offsets[strip + 1];
        uint *to = out + (size_t)strip * pixels_per_strip, *last = to + pixels_per_strip;
        uint seen[64] = {0};
        uchar r = 0, g = 0, b = 0, a = 255;
        while (to < last && at < end) {
            uint op = *at++;
            if (op == 0xfe || op == 0xff) {
                r = at[0];
                g = at[1];
                b = at[2];
                at += 3;
                if (op == 0xff)
                    a = *at++;
            } else if (op < 64) {
                uint word = seen[op];
                r = word;
                g = word >> 8;
                b = word >> 16;
                a = word >> 24;
            } else if (op < 128) {
                r += (op >> 4 & 3) - 2;
                g += (op >> 2 & 3) - 2;
                b += (op & 3) - 2;
            } else if (op < 192) {
                uint more = *at++;
                int dg = (int)(op & 63) - 32;
                r += dg - 8 + (more >> 4);
                g += dg;
                b += dg - 8 + (more & 15);
            } else {
                uint word = r | g << 8 | b << 16 | (uint)a << 24;
                for (int n = (int)MIN((op & 63) + 1, last - to); n > 0; n--)
                    *to++ = word;
                seen[(r * 3 + g * 5 + b * 7 + a * 11) & 63] = word;
                continue;
            }
            uint word = r | g << 8 | b << 16 | (uint)a << 24;
            seen[(r * 3 + g * 5 + b * 7 + a * 11) & 63] = word;
            *to++ = word;
        }
    }
}
