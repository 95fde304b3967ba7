// JSON numbers in fields of 24 bytes: whether a field is one and what it is worth.
#include "native.h"
enum { FIELD = 24, OK = 0, EMPTY = 1, SYNTAX = 2, TOO_LONG = 3 };

typedef struct {
    double value;
    int digits;
    char status, integer;
} Number;

static int is_digit(char c) {
    return (uchar)(c - '0') < 10;
}

static void parse(const char *restrict field, Number *restrict r) {
    char p[FIELD + 1];
    memcpy(p, field, FIELD);
    p[FIELD] = 0;
    char *s = p;
    while (*s == ' ')
        s++;
    int negative = 0, digits = 0, scale = 0, exponent = 0, integer = 0;
    ull mantissa = 0;
    r->value = 0, r->digits = 0, r->integer = 0;
    if (!*s) {
        r->status = EMPTY;
        return;
    }
    r->status = SYNTAX;
    if (*s == '-')
        negative = 1, s++;
    if (!is_digit(*s))
        return;
    r->digits = digits = 1;
    mantissa = *s - '0';
    if (*s++ != '0')
        while (is_digit(*s))
            mantissa = mantissa * 10 + (*s++ - '0'), digits++;
    r->digits = digits;
    integer = !*s || *s == ' ';
    if (*s == '.') {
        char *first = ++s;
        while (is_digit(*s))
            mantissa = mantissa * 10 + (*s++ - '0'), digits++;
        scale = first - s;
        r->digits = digits;
        if (!scale)
            return;
    }
    if ((*s | 32) == 'e') {
        s++;
        int down = *s == '-';
        if (*s == '-' || *s == '+')
            s++;
        if (!is_digit(*s))
            return;
        while (is_digit(*s))
            exponent = exponent * 10 + (*s++ - '0');
        if (down)
            exponent = -exponent;
    }
    if (*s && *s != ' ')
        return;
    r->integer = integer;
    r->status = digits > 18 ? TOO_LONG : OK;
    if (r->status == OK) {
        double v = mantissa;
        int e = MAX(-30, MIN(30, exponent + scale));
        for (; e > 0; e--)
            v *= 10;
        for (; e < 0; e++)
            v /= 10;
        r->value = negative ? -v : v;
    }
}

void run(const char *restrict text, Number *restrict numbers, int *restrict errors, int n) {
    for (int i = 0; i < n; i++) {
        parse(text + (long)i * FIELD, numbers + i);
        if (numbers[i].status != OK)
            errors[(int)numbers[i].status]++;
    }
}
