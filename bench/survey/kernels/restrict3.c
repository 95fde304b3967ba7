#include "native.h"

void run(const float *restrict fine, float *restrict coarse, int n) {
    int m = n / 2;
    for (int z = 1; z < m; z++)
        for (int y = 1; y < m; y++)
            for (int x = 1; x < m; x++) {
                float sum = 0;
                for (int k = -1; k <= 1; k++)
                    for (int j = -1; j <= 1; j++)
                        for (int i = -1; i <= 1; i++) {
                            float w = 1.0f / (float)(8 << ((i != 0) + (j != 0) + (k != 0)));
                            sum += w * fine[((2 * z + k) * n + 2 * y + j) * n + 2 * x + i];
                        }
                coarse[(z * m + y) * m + x] = sum;
            }
}
