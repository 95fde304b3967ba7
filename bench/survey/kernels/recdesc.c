// Arithmetic in text by recursive descent.
#include "native.h"

enum { NONE, DIVISION, SYNTAX, DEPTH, TAIL };

typedef struct {
    const char *at, *begin;
    const int *names;
    int error, where;
} parser;

static uint sum(parser *p, int depth);

static inline char peek(parser *p) {
    while (*p->at == ' ')
        p->at++;
    return *p->at;
}

static void fail(parser *p, int error) {
    if (!p->error) {
        p->error = error;
        p->where = p->at - p->begin;
    }
}

static inline uint factor(parser *p, int depth) {
    int negative = 0;
    char c;
    while ((c = peek(p)) == '-' || c == '+') {
        negative ^= c == '-';
        p->at++;
    }
    uint v = 0;
    if ((uchar)(c - '0') <= 9) {
        do
            v = 10 * v + (*p->at++ - '0');
        while ((uchar)(*p->at - '0') <= 9);
    } else if ((uchar)(c - 'a') < 26) {
        p->at++;
        v = p->names[c - 'a'];
    } else if (c == '(') {
        p->at++;
        if (!depth) {
            fail(p, DEPTH);
            return 0;
        }
        v = sum(p, depth - 1);
        if (!p->error) {
            if (peek(p) == ')')
                p->at++;
            else
                fail(p, SYNTAX);
        }
    } else
        fail(p, SYNTAX);
    return negative ? -v : v;
}

static inline uint product(parser *p, int depth) {
    uint v = factor(p, depth);
    while (!p->error) {
        char op = peek(p);
        if (op != '*' && op != '/' && op != '%')
            break;
        p->at++;
        uint right = factor(p, depth);
        if (op == '*')
            v *= right;
        else if (!right)
            fail(p, DIVISION);
        else if (right == ~0u)
            v = op == '/' ? -v : 0;
        else
            v = op == '/' ? (int)v / (int)right : (int)v % (int)right;
    }
    return v;
}

static uint sum(parser *p, int depth) {
    uint v = product(p, depth);
    while (!p->error) {
        char op = peek(p);
        if (op != '+' && op != '-')
            break;
        p->at++;
        uint right = product(p, depth);
        v += op == '+' ? right : -right;
    }
    return v;
}

void run(const char *restrict text, const int *restrict start, const int *restrict names, int *restrict result, int n) {
    for (int i = 0; i < n; i++) {
        parser p = {text + start[i], text + start[i], names, NONE, -1};
        uint v = sum(&p, 12);
        if (!p.error && peek(&p))
            fail(&p, TAIL);
        result[3 * i] = p.error ? 0 : (int)v;
        result[3 * i + 1] = p.error;
        result[3 * i + 2] = p.where;
    }
}
