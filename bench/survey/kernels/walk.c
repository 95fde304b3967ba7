#include "native.h"

void run(const int *restrict keys, const int *restrict from, int *restrict sums, int n, int m) {
    for (int i = 0; i < n; i++) {
        int stack[24], top = 1, sum = 0, low = from[i];
        stack[0] = 0;
        while (top) {
            int node = stack[--top], child = 2 * node + 1;
            int key = keys[node];
            if (key >= low && key < low + 64)
                sum += key;
            if (child + 1 < m) {
                if (keys[child] > low / 2)
                    stack[top++] = child;
                if (keys[child + 1] > low / 2)
                    stack[top++] = child + 1;
            }
        }
        sums[i] = sum;
    }
}
