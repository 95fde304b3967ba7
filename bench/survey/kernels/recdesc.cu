// Arithmetic in text by recursive descent, an expression a thread: sums of products of factors, brackets by recursion,
// signs, names of one letter looked up; errors with their places.
#include <cuda/std/optional>

enum Error { NONE, DIVISION, SYNTAX, DEPTH, TAIL };

struct Parser {
    const char *at, *begin;
    const int *variables;
    int error, where;

    __device__ void fail(Error e) {
        if (error == NONE) {
            error = e;
            where = static_cast<int>(at - begin);
        }
    }
    __device__ char peek() {
        while (*at == ' ')
            at++;
        return *at;
    }
    __device__ bool accept(char c) {
        if (peek() != c)
            return false;
        at++;
        return true;
    }
    __device__ cuda::std::optional<unsigned> number() {
        if (unsigned(peek() - '0') > 9)
            return cuda::std::nullopt;
        unsigned v = 0;
        do
            v = 10 * v + (*at++ - '0');
        while (unsigned(*at - '0') <= 9);
        return v;
    }
};

__device__ __noinline__ unsigned sum(Parser &p, int depth);

__device__ unsigned factor(Parser &p, int depth) {
    bool negative = false;
    while (true) {
        if (p.accept('-'))
            negative = !negative;
        else if (!p.accept('+'))
            break;
    }
    unsigned v = 0;
    if (auto literal = p.number()) {
        v = *literal;
    } else if (unsigned name = p.peek() - 'a'; name < 26) {
        p.at++;
        v = p.variables[name];
    } else if (p.accept('(')) {
        if (depth == 0) {
            p.fail(DEPTH);
            return 0;
        }
        v = sum(p, depth - 1);
        if (p.error == NONE && !p.accept(')'))
            p.fail(SYNTAX);
    } else {
        p.fail(SYNTAX);
    }
    return negative ? 0u - v : v;
}

__device__ __noinline__ unsigned product(Parser &p, int depth) {
    unsigned v = factor(p, depth);
    while (p.error == NONE) {
        char op = p.peek();
        if (op != '*' && op != '/' && op != '%')
            break;
        p.at++;
        unsigned right = factor(p, depth);
        if (op == '*') {
            v *= right;
        } else if (right == 0) {
            p.fail(DIVISION);
        } else if (right == ~0u) {
            v = op == '/' ? 0u - v : 0;
        } else {
            int a = static_cast<int>(v), b = static_cast<int>(right);
            v = static_cast<unsigned>(op == '/' ? a / b : a % b);
        }
    }
    return v;
}

__device__ __noinline__ unsigned sum(Parser &p, int depth) {
    unsigned v = product(p, depth);
    while (p.error == NONE) {
        if (p.accept('+'))
            v += product(p, depth);
        else if (p.accept('-'))
            v -= product(p, depth);
        else
            break;
    }
    return v;
}

extern "C" __global__ void recdesc(const char *__restrict__ text, const int *__restrict__ start,
                                   const int *__restrict__ names, int3 *__restrict__ result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Parser p{text + start[i], text + start[i], names, NONE, -1};
    unsigned v = sum(p, 12);
    if (p.error == NONE && p.peek() != '\0')
        p.fail(TAIL);
    result[i] = make_int3(p.error == NONE ? static_cast<int>(v) : 0, p.error, p.where);
}
