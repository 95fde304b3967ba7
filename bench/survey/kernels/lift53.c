#include "native.h"

void run(const short *restrict in, short *restrict out, int w, int h) {
    int half = w / 2;
    for (int y = 0; y < h; y++) {
        const short *row = in + y * w;
        short *low = out + y * w, *high = low + half;
        for (int i = 0; i < half - 1; i++)
            high[i] = row[2 * i + 1] - ((row[2 * i] + row[2 * i + 2]) >> 1);
        high[half - 1] = row[w - 1] - row[w - 2];
        low[0] = row[0] + ((2 * high[0] + 2) >> 2);
        for (int i = 1; i < half; i++)
            low[i] = row[2 * i] + ((high[i - 1] + high[i] + 2) >> 2);
    }
}
