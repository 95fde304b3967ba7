#include "native.h"
void run(int *restrict data, int n) {
    for (int t = 0; t < n; t++) {
        int *a = data + t * 64, stack[32], top = 0;
        stack[top++] = 0; stack[top++] = 63;
        while (top) {
            int hi = stack[--top], lo = stack[--top];
            while (lo < hi) {
                int p = a[(lo + hi) / 2], i = lo, j = hi;
                while (i <= j) {
                    while (a[i] < p) i++;
                    while (a[j] > p) j--;
                    if (i <= j) { int x = a[i]; a[i++] = a[j]; a[j--] = x; }
                }
                if (j - lo < hi - i) { if (i < hi) stack[top++] = i, stack[top++] = hi; hi = j; }
                else { if (lo < j) stack[top++] = lo, stack[top++] = j; lo = i; }
            }
        }
    }
}
