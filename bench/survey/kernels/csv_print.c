// Rows of a table as CSV text: a number, an amount with two decimals, a date.
#include "native.h"

static const char pairs[201] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                               "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                               "8081828384858687888990919293949596979899";

static inline char *two(char *to, uint value) {
    memcpy(to, pairs + 2 * value, 2);
    return to + 2;
}

static inline char *number(char *to, uint64_t value) {
    char digits[20];
    int at = 20;
    for (; value >= 100; value /= 100)
        memcpy(digits + (at -= 2), pairs + 2 * (value % 100), 2);
    if (value >= 10)
        memcpy(digits + (at -= 2), pairs + 2 * value, 2);
    else
        digits[--at] = '0' + value;
    memcpy(to, digits + at, 20 - at);
    return to + 20 - at;
}

static inline char *date(char *to, int days) {
    days += 719468;
    int era = (days >= 0 ? days : days - 146096) / 146097;
    uint day_of_era = days - era * 146097;
    uint year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint month = (5 * day_of_year + 2) / 153, day = day_of_year - (153 * month + 2) / 5 + 1;
    uint civil = month < 10 ? month + 3 : month - 9, year = year_of_era + era * 400 + (civil <= 2);
    to = two(two(to, year / 100), year % 100);
    *to++ = '-';
    to = two(to, civil);
    *to++ = '-';
    return two(to, day);
}

void run(const uint *restrict id, const int64_t *restrict cents, const int *restrict days, char *restrict text,
         int *restrict bytes, int rows) {
    char *to = text;
    for (int row = 0; row < rows; row++) {
        to = number(to, id[row]);
        *to++ = ',';
        if (cents[row] < 0)
            *to++ = '-';
        uint64_t size = cents[row] < 0 ? 0 - (uint64_t)cents[row] : (uint64_t)cents[row];
        to = number(to, size / 100);
        *to++ = '.';
        to = two(to, size % 100);
        *to++ = ',';
        to = date(to, days[row]);
        *to++ = '\n';
    }
    *bytes = to - text;
}
