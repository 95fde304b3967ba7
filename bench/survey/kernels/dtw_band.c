#include "native.h"

// Anti-diagonals as in the kernel, by the index in the query, so that they are made of vectors.
void run(const float *restrict series, const float *restrict query, const float *restrict bound,
         float *restrict distance, int n, int radius, int count) {
    float *room = malloc((4 * n + 6) * sizeof(float)), *reversed = room + 3 * (n + 2);
    for (int s = 0; s < count; s++) {
        const float *y = series + (size_t)s * n;
        for (int i = 0; i < 3 * (n + 2); i++)
            room[i] = INFINITY;
        for (int i = 0; i < n; i++)
            reversed[i] = y[n - 1 - i];
        float abandon = bound[s], least[2] = {0, 0}, last = INFINITY;
        int dropped = 0;
        for (int d = 0; d <= 2 * n - 2; d++) {
            float *restrict now = room + d % 3 * (n + 2) + 1;
            const float *restrict one = room + (d + 2) % 3 * (n + 2) + 1, *restrict two = room + (d + 1) % 3 * (n + 2) + 1;
            int low = MAX(MAX(0, d - n + 1), d > radius ? (d - radius + 1) / 2 : 0);
            int high = MIN(MIN(n - 1, d), (d + radius) / 2);
            const float *restrict other = reversed + n - 1 - d;
            now[low - 1] = now[high + 1] = INFINITY;
            float smallest = INFINITY;
#pragma omp simd reduction(min : smallest)
            for (int i = low; i <= high; i++) {
                float gap = query[i] - other[i], a = MIN(one[i - 1], one[i]), best = MIN(a, two[i - 1]);
                best = d == 0 ? 0 : best;
                float value = gap * gap + best;
                now[i] = value;
                smallest = MIN(smallest, value);
            }
            least[d & 1] = smallest;
            if ((d & 31) == 31 && least[0] > abandon && least[1] > abandon) {
                dropped = 1;
                break;
            }
            last = now[high];
        }
        distance[s] = !dropped && last <= abandon ? sqrtf(last) : -1;
    }
    free(room);
}
