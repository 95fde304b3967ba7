#include "native.h"

void run(const uchar *restrict in, uchar *restrict out, int *restrict lengths, int rows, int n) {
    for (int i = 0; i < rows; i++) {
        const uchar *p = in + i * n;
        uchar *q = out + i * 2 * n;
        int at = 0;
        for (int j = 0; j < n;) {
            int run = 1;
            while (j + run < n && run < 255 && p[j + run] == p[j])
                run++;
            q[at++] = p[j];
            q[at++] = run;
            j += run;
        }
        lengths[i] = at;
    }
}
