#include "native.h"

void run(const float *restrict in, float *restrict out, long long n, int r) {
    for (long long first = 0; first < n; first += 256) {
        float least[256], most[256];
        const float *p = in + first;
        int count = MIN(256, n - first);
        for (int i = 0; i < count; i++)
            least[i] = most[i] = p[i];
        for (int d = -r; d <= r; d++) {
            int end = MIN(count, n - first - d);
            for (int i = MAX(0, -d - first); i < end; i++) {
                float v = p[i + d];
                least[i] = v < least[i] ? v : least[i];
                most[i] = v > most[i] ? v : most[i];
            }
        }
        for (int i = 0; i < count; i++)
            out[first + i] = most[i] - least[i];
    }
}
