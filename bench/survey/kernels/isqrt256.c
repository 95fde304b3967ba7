// Square roots of integers of 256 bits, digit by digit, with remainders.
#include "native.h"

typedef unsigned __int128 u128;

void run(const u128 *restrict x, u128 *restrict root, ull *restrict rest, int n) {
    for (int t = 0; t < n; t++) {
        u128 lo, hi, rl = 0, rh = 0, bl = 0, bh = 0;
        memcpy(&lo, x + 2 * t, 16);
        memcpy(&hi, x + 2 * t + 1, 16);
        ull words[4] = {lo, lo >> 64, hi, hi >> 64};
        int length = 0;
        for (int i = 3; i >= 0 && !length; i--)
            if (words[i])
                length = 64 * i + 64 - __builtin_clzll(words[i]);
        if (length) {
            int top = (length - 1) & ~1;
            if (top >= 128)
                bh = (u128)1 << (top - 128);
            else
                bl = (u128)1 << top;
            for (int k = 0; k <= top / 2; k++) {
                u128 tl = rl + bl, th = rh + bh + (tl < rl);
                rl = rl >> 1 | rh << 127;
                rh >>= 1;
                u128 dl = lo - tl, dh = hi - th;
                int borrow = lo < tl;
                if (hi > th || (hi == th && !borrow)) {
                    lo = dl;
                    hi = dh - borrow;
                    u128 sl = rl + bl;
                    rh += bh + (sl < rl);
                    rl = sl;
                }
                bl = bl >> 2 | bh << 126;
                bh >>= 2;
            }
        }
        memcpy(root + t, &rl, 16);
        rest[3 * t] = lo, rest[3 * t + 1] = lo >> 64, rest[3 * t + 2] = hi;
    }
}
