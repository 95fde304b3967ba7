// Sums of decimals of 128 bits by groups, and text of them and of their averages.
#include "native.h"
enum { MAX_GROUPS = 64, WIDTH = 48 };

typedef struct {
    long long price;
    unsigned short group;
    signed char discount, tax;
    int quantity;
} Line;

static void write_decimal(__int128 value, int scale, char *text) {
    unsigned __int128 rest = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
    int at = WIDTH, written = 0;
    memset(text, ' ', WIDTH);
    while (rest || written <= scale) {
        ull part = rest % 1000000000000000000ull;
        rest /= 1000000000000000000ull;
        for (int k = 0; k < 18 && (rest || part || written <= scale); k++) {
            if (written++ == scale)
                text[--at] = '.';
            text[--at] = '0' + part % 10;
            part /= 10;
        }
    }
    if (value < 0)
        text[--at] = '-';
}

void run(const Line *restrict lines, __int128 *restrict sums, uint *restrict counts, char *restrict sum_text,
         char *restrict average_text, uint groups, ull n) {
    __int128 total[MAX_GROUPS] = {0};
    uint count[MAX_GROUPS] = {0};
    for (ull i = 0; i < n; i++) {
        Line l = lines[i];
        long long rate = (long long)((100 - l.discount) * (100 + l.tax)) * l.quantity;
        total[l.group] += (__int128)l.price * rate;
        count[l.group]++;
    }
    for (uint g = 0; g < groups; g++) {
        memcpy(sums + g, total + g, 16);  // it may not be aligned
        counts[g] = count[g];
        write_decimal(total[g], 6, sum_text + g * WIDTH);
        __int128 average = 0, scaled = total[g] / 100;
        if (count[g])
            average = (scaled < 0 ? scaled - count[g] / 2 : scaled + count[g] / 2) / count[g];
        write_decimal(average, 4, average_text + g * WIDTH);
    }
}
