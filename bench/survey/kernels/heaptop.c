#include "native.h"
void run(const float *restrict q, const float *restrict p, float *restrict out, int queries, int points) {
    for (int t = 0; t < queries; t++) {
        float heap[8], sum = 0;
        for (int k = 0; k < 8; k++) heap[k] = 1e30f;
        for (int j = 0; j < points; j++) {
            float dx = q[2 * t] - p[2 * j], dy = q[2 * t + 1] - p[2 * j + 1], d = dx * dx + dy * dy;
            if (d < heap[0]) {
                int i = 0;
                for (;;) {
                    int c = 2 * i + 1;
                    if (c >= 8) break;
                    if (c + 1 < 8 && heap[c + 1] > heap[c]) c++;
                    if (heap[c] <= d) break;
                    heap[i] = heap[c]; i = c;
                }
                heap[i] = d;
            }
        }
        for (int k = 0; k < 8; k++) sum += heap[k];
        out[t] = sum;
    }
}
