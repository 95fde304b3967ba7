#include "native.h"

#define N 512

typedef struct {
    float x, y;
} float2;

void run(const float2 *restrict city, float *restrict gain, int *restrict where, int tours) {
    for (int t = 0; t < tours; t++) {
        static float x[N], y[N], edge[N];
        for (int i = 0; i < N; i++) {
            x[i] = city[t * N + i].x;
            y[i] = city[t * N + i].y;
        }
        for (int i = 0; i < N - 1; i++)
            edge[i] = sqrtf((x[i] - x[i + 1]) * (x[i] - x[i + 1]) + (y[i] - y[i + 1]) * (y[i] - y[i + 1]));
        float least = 0;
        int found = 0;
        for (int i = 0; i < N - 2; i++) {
            static float change[N];
            for (int j = i + 2; j < N - 1; j++) {
                float ac = sqrtf((x[i] - x[j]) * (x[i] - x[j]) + (y[i] - y[j]) * (y[i] - y[j]));
                float bd = sqrtf((x[i + 1] - x[j + 1]) * (x[i + 1] - x[j + 1]) +
                                 (y[i + 1] - y[j + 1]) * (y[i + 1] - y[j + 1]));
                change[j] = ac + bd - edge[i] - edge[j];
            }
            for (int j = i + 2; j < N - 1; j++)
                if (change[j] < least) {
                    least = change[j];
                    found = i * N + j;
                }
        }
        gain[t] = least;
        where[t] = found;
    }
}
