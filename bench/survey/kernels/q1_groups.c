#include "native.h"
enum { GROUPS = 6 };

typedef struct {
    ull quantity, price, count;
    double discounted, charge, discount;
} Sums;

void run(const int *restrict date, const char *restrict flag, const char *restrict status,
         const short *restrict quantity, const long long *restrict price, const uchar *restrict discount,
         const uchar *restrict tax, double *restrict report, int n, int last_date) {
    Sums sums[GROUPS] = {0};
    for (int i = 0; i < n; i++) {
        if (date[i] > last_date)
            continue;
        int f = flag[i] == 'A' ? 0 : flag[i] == 'N' ? 1 : 2;
        Sums *s = sums + 2 * f + (status[i] == 'O');
        double off = discount[i] * 0.01, rate = tax[i] * 0.01, less = price[i] * (1 - off);
        s->quantity += quantity[i];
        s->price += price[i];
        s->discounted += less;
        s->charge += less * (1 + rate);
        s->discount += off;
        s->count++;
    }
    for (int g = 0; g < GROUPS; g++) {
        Sums s = sums[g];
        double count = s.count ? (double)s.count : 1;
        double values[8] = {s.quantity, s.price * 0.01, s.discounted * 0.01, s.charge * 0.01, s.quantity / count,
                            s.price * 0.01 / count, s.discount / count, s.count};
        memcpy(report + g * 8, values, sizeof values);
    }
}
