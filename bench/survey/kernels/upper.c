#include "native.h"

void run(const char *restrict in, char *restrict out, int n, int length) {
    for (int i = 0; i < n; i++)
        out[i] = in[i] >= 'a' && in[i] <= 'z' ? in[i] - 32 : in[i];
}
