// Run-length encoding of a column: each run's value, start and length.
#include "native.h"

void run(const int *restrict column, int *restrict values, uint *restrict starts, uint *restrict lengths,
         uint *restrict runs, int n) {
    uint count = 0;
    int before = ~column[0];
    for (int i = 0; i < n; i++) {
        values[count] = column[i]; // kept if it is a head
        starts[count] = i;
        count += column[i] != before;
        before = column[i];
    }
    starts[count] = n;
    values[count] = 0;
    for (uint i = 0; i < count; i++)
        lengths[i] = starts[i + 1] - starts[i];
    *runs = count;
}
