// Pages of optional values by a dictionary, levels and indices in runs and packed groups; rows of a page start at a
// multiple of 32. `data` has eight bytes more than it needs.
#include "native.h"

static void decode(const uchar *p, int bits, int total, int *restrict out) {
    uint mask = (1u << bits) - 1;
    for (int done = 0; done < total;) {
        uint header = 0, shift = 0;
        do
            header |= (*p & 0x7fu) << shift, shift += 7;
        while (*p++ & 0x80);
        if (header & 1) {
            int groups = header >> 1, count = MIN(groups * 8, total - done);
            for (int i = 0; i < count; i++) {
                uint64_t word;
                memcpy(&word, p + (i * bits >> 3), 8);
                out[done + i] = word >> (i * bits & 7) & mask;
            }
            p += groups * bits;
            done += count;
        } else {
            int count = MIN((int)(header >> 1), total - done), v = 0;
            for (int i = 0; i < (bits + 7) / 8; i++)
                v |= *p++ << 8 * i;
            for (int i = 0; i < count; i++)
                out[done + i] = v;
            done += count;
        }
    }
}

void run(const uchar *restrict data, const int *restrict pages, const int64_t *restrict dictionary,
         int64_t *restrict values, uint *restrict mask, int *restrict nulls, int count, int longest) {
    int *levels = malloc((longest + 32) * sizeof(int)), *indices = malloc((longest + 1) * sizeof(int));
    for (int k = 0; k < count; k++) {
        const int *page = pages + 6 * k;
        int n = page[4], first = page[5], total = 0;
        decode(data + page[0], 1, n, levels);
        memset(levels + n, 0, 32 * sizeof(int));
        for (int i = 0; i < n; i++)
            total += levels[i];
        decode(data + page[2] + 1, data[page[2]], total, indices);
        indices[total] = 0;
        int place = 0;
        for (int i = 0; i < n; i++) {
            int64_t v = dictionary[indices[place]];
            values[first + i] = levels[i] ? v : 0;
            place += levels[i];
        }
        for (int w = 0; 32 * w < n; w++) {
            uint word = 0;
            for (int i = 0; i < 32; i++)
                word |= (uint)levels[32 * w + i] << i;
            mask[first / 32 + w] = word;
        }
        *nulls += n - total;
    }
    free(levels);
    free(indices);
}
