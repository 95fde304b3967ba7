#include "native.h"
enum { OK, SYNTAX, ZERO_DIVISION };

static const uchar precedence[128] = {['+'] = 1, ['-'] = 1, ['*'] = 2, ['/'] = 2, ['~'] = 3, ['^'] = 4};

static inline int apply(double *values, int *size, char op) {
    int n = *size;
    if (op == '~') {
        if (!n)
            return SYNTAX;
        values[n - 1] = -values[n - 1];
        return OK;
    }
    if (n < 2)
        return SYNTAX;
    double b = values[n - 1], *a = values + n - 2;
    *size = n - 1;
    switch (op) {
    case '+': *a += b; return OK;
    case '-': *a -= b; return OK;
    case '*': *a *= b; return OK;
    case '/':
        if (b == 0)
            return ZERO_DIVISION;
        *a /= b;
        return OK;
    case '^': *a = pow(*a, b); return OK;
    }
    return SYNTAX;
}

static int evaluate(const char *s, double x, double *result) {
    double values[32];
    char ops[32];
    int size = 0, top = 0, operand = 1, error;
    for (; *s;) {
        char c = *s;
        if (c == ' ')
            s++;
        else if (c >= '0' && c <= '9') {
            double number = 0, scale = 0.1;
            while (*s >= '0' && *s <= '9')
                number = number * 10 + (*s++ - '0');
            if (*s == '.')
                for (s++; *s >= '0' && *s <= '9'; scale /= 10)
                    number += (*s++ - '0') * scale;
            values[size++] = number;
            operand = 0;
        } else if (c == 'x') {
            values[size++] = x;
            operand = 0;
            s++;
        } else if (c == '(') {
            ops[top++] = c;
            operand = 1;
            s++;
        } else if (c == ')') {
            while (top && ops[top - 1] != '(')
                if ((error = apply(values, &size, ops[--top])))
                    return error;
            if (!top--)
                return SYNTAX;
            operand = 0;
            s++;
        } else if (c == '-' && operand) {
            ops[top++] = '~';
            s++;
        } else if (precedence[c & 127]) {
            int mine = precedence[c & 127];
            while (top && precedence[(int)ops[top - 1]] >= mine + (c == '^'))
                if ((error = apply(values, &size, ops[--top])))
                    return error;
            ops[top++] = c;
            operand = 1;
            s++;
        } else
            return SYNTAX;
    }
    while (top)
        if ((error = apply(values, &size, ops[--top])))
            return error;
    if (size != 1)
        return SYNTAX;
    *result = values[0];
    return OK;
}

void run(const char *restrict lines, const float *restrict x, double *restrict results, int *restrict errors,
         int pitch, int count) {
    for (int i = 0; i < count; i++) {
        double value = 0;
        errors[i] = evaluate(lines + (long)i * pitch, x[i], &value);
        results[i] = value;
    }
}
