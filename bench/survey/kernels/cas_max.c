#include "native.h"

void run(const float *restrict v, const int *restrict group, float *restrict most, int n) {
    for (int i = 0; i < n; i++)
        if (v[i] > most[group[i]])
            most[group[i]] = v[i];
}
