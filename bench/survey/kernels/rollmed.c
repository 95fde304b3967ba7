// Outliers of many channels by Hampel's rule in a window that slides.
#include "native.h"

void run(const short *restrict samples, short *restrict cleaned, int *restrict outliers, int channels, int length,
         int window, int times_8) {
    for (int c = 0; c < channels; c++) {
        short ring[32], sorted[32];
        int used = 0, head = 0, bad = 0;
        for (int t = 0; t < length; t++) {
            short v = samples[(size_t)t * channels + c];
            int at;
            if (used == window) {
                short old = ring[head];
                at = 0;
                for (int k = 0; k < window; k++)
                    at += sorted[k] < old;
                for (; at + 1 < used && sorted[at + 1] < v; at++)
                    sorted[at] = sorted[at + 1];
            } else
                at = used++;
            for (; at > 0 && sorted[at - 1] > v; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = v;
            ring[head] = v;
            head = head + 1 == window ? 0 : head + 1;
            int m = used / 2, middle = sorted[m], left = m, right = m + 1, d = 0;
            for (int k = 0; k <= used / 2; k++) {
                int a = left >= 0 ? middle - sorted[left] : 0x10000;
                int b = right < used ? sorted[right] - middle : 0x10000;
                d = MIN(a, b);
                left -= a <= b;
                right += a > b;
            }
            if (abs(v - middle) * 8 > times_8 * MAX(d, 1)) {
                v = middle;
                bad++;
            }
            cleaned[(size_t)t * channels + c] = v;
        }
        outliers[c] = bad;
    }
}
