#include "native.h"

// Langford's pairings, counted, with as many nodes for each place of the three largest numbers.
void run(ull *restrict solutions, uint *restrict tried, int n) {
    ull found = 0;
    for (int a = 0, t = 0; a < n - 1; a++)
        for (int b = 0; b < n; b++)
            for (int c = 0; c < n + 1; c++, t++) {
                uint ma = (1u << (n + 1) | 1u) << a, mb = (1u << n | 1u) << b, mc = (1u << (n - 1) | 1u) << c;
                tried[t] = 0;
                if (ma & mb || (ma | mb) & mc)
                    continue;
                uint used[16], nodes = 0;
                int place[16], k = n - 3, p = 0;
                uint now = ma | mb | mc;
                while (1) {
                    int last = 2 * n - k - 2;
                    uint pair = 1u << (k + 1) | 1u;
                    while (p <= last && now & pair << p)
                        p++;
                    nodes++;
                    if (p > last) {
                        if (++k > n - 3)
                            break;
                        now = used[k];
                        p = place[k];
                    } else if (k == 1) {
                        found++;
                        p++;
                    } else {
                        used[k] = now;
                        place[k] = p + 1;
                        now |= pair << p;
                        p = 0;
                        k--;
                    }
                }
                tried[t] = nodes;
            }
    *solutions = found;
}
