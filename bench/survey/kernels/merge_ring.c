// Two sorted lists of records become one, of which equal ones keep their order.
#include "native.h"

typedef struct {
    int key, id;
} Record;

void run(const Record *restrict a, const Record *restrict b, Record *restrict c, int m, int n) {
    int i = 0, j = 0;
    while (i < m && j < n) {
        int from_b = b[j].key < a[i].key;
        *c++ = from_b ? b[j] : a[i];
        i += !from_b;
        j += from_b;
    }
    memcpy(c, a + i, (m - i) * sizeof *c);
    memcpy(c + (m - i), b + j, (n - j) * sizeof *c);
}
