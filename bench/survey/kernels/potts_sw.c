// Swendsen and Wang's clusters: joined to the lesser root, with paths halved.
#include "native.h"

static inline ull mix(ull z) {
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static inline uint draw(uint seed, uint sweep, uint what, uint site) {
    return mix((ull)(seed ^ sweep * 0x632be5abu) << 32 | (what << 28 ^ site)) >> 32;
}

static inline int find(int *restrict label, int at) {
    while (label[at] != at)
        at = label[at] = label[label[at]];
    return at;
}

static inline void join(int *restrict label, int a, int b) {
    a = find(label, a), b = find(label, b);
    label[MAX(a, b)] = MIN(a, b);
}

void run(uchar *restrict spin, int *restrict root, int *restrict counts, int nx, int ny, int states, uint threshold,
         uint seed, int sweeps) {
    int n = nx * ny;
    uchar *bond = malloc(n);
    memset(counts, 0, sweeps * (states + 1) * sizeof(int));
    for (int s = 0; s < sweeps; s++) {
        for (int y = 0; y < ny; y++) {
            const uchar *row = spin + y * nx, *next = spin + (y + 1 == ny ? 0 : y + 1) * nx;
#pragma omp simd
            for (int x = 0; x < nx; x++) {
                uint site = y * nx + x;
                int right = (row[x] == row[x + 1 == nx ? 0 : x + 1]) & (draw(seed, s, 0, site) < threshold);
                int below = (row[x] == next[x]) & (draw(seed, s, 1, site) < threshold);
                bond[site] = right | below << 1;
                root[site] = site;
            }
        }
        for (int y = 0, site = 0; y < ny; y++)
            for (int x = 0; x < nx; x++, site++) {
                if (bond[site] & 1)
                    join(root, site, x + 1 == nx ? site + 1 - nx : site + 1);
                if (bond[site] & 2)
                    join(root, site, y + 1 == ny ? x : site + nx);
            }
        for (int i = 0; i < n; i++) {  // roots are lesser, so they are done before
            root[i] = root[root[i]];
            spin[i] = root[i] == i ? (ull)draw(seed, s, 2, i) * states >> 32 : spin[root[i]];
        }
        int *count = counts + s * (states + 1), equal = 0;
        for (int y = 0; y < ny; y++) {
            const uchar *row = spin + y * nx, *next = spin + (y + 1 == ny ? 0 : y + 1) * nx;
            for (int x = 0; x < nx; x++)
                count[row[x]]++;
            for (int x = 0; x + 1 < nx; x++)
                equal += (row[x] == row[x + 1]) + (row[x] == next[x]);
            equal += (row[nx - 1] == row[0]) + (row[nx - 1] == next[nx - 1]);
        }
        count[states] = equal;
    }
    free(bond);
}
