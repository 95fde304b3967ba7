// A breadth-first search that changes its direction.
#include "native.h"

void run(const int *restrict row, const int *restrict col, int *restrict level, int *restrict history, int source,
         int alpha, int beta, int n, int rounds) {
    int words = (n + 31) / 32, bottom_up = 0, count = 1, has_bits = 0;
    int *queue = malloc(2 * n * sizeof *queue), *other = queue + n;
    uint *front = calloc(2 * words, sizeof *front), *next = front + words;
    memset(level, -1, n * sizeof *level);
    level[source] = 0;
    queue[0] = source;
    long long edges = row[source + 1] - row[source], unexplored = row[n];
    for (int depth = 0; depth < rounds; depth++) {
        unexplored -= edges;
        bottom_up = bottom_up ? count > n / beta : edges > unexplored / alpha;
        history[2 * depth] = count;
        history[2 * depth + 1] = bottom_up;
        int found = 0;
        edges = 0;
        if (bottom_up) {
            if (!has_bits) {
                memset(front, 0, words * sizeof *front);
                for (int i = 0; i < count; i++)
                    front[queue[i] >> 5] |= 1u << (queue[i] & 31);
            }
            memset(next, 0, words * sizeof *next);
            for (int v = 0; v < n; v++) {
                if (level[v] >= 0)
                    continue;
                for (int e = row[v]; e < row[v + 1]; e++)
                    if (front[col[e] >> 5] >> (col[e] & 31) & 1) {
                        level[v] = depth + 1;
                        next[v >> 5] |= 1u << (v & 31);
                        found++;
                        edges += row[v + 1] - row[v];
                        break;
                    }
            }
            uint *t = front;
            front = next;
            next = t;
            has_bits = 1;
        } else {
            if (has_bits)
                for (int w = 0, k = 0; w < words; w++)
                    for (uint bits = front[w]; bits; bits &= bits - 1)
                        queue[k++] = 32 * w + __builtin_ctz(bits);
            for (int i = 0; i < count; i++)
                for (int e = row[queue[i]]; e < row[queue[i] + 1]; e++) {
                    int w = col[e];
                    if (level[w] < 0) {
                        level[w] = depth + 1;
                        other[found++] = w;
                        edges += row[w + 1] - row[w];
                    }
                }
            int *t = queue;
            queue = other;
            other = t;
            has_bits = 0;
        }
        count = found;
    }
    free(MIN(queue, other));
    free(MIN(front, next));
}
