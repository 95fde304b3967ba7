// What C++ programs do: virtual functions, pointers to functions, recursion, jumps, local arrays, heaps.
#include "common.cuh"
#define ARGS const unsigned *a, const unsigned *b, unsigned *out, unsigned n

struct Shape {
    __device__ virtual unsigned area() const = 0;
    __device__ virtual unsigned edges() const { return 0; }
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    unsigned side;
    __device__ Square(unsigned s) : side(s) {}
    __device__ unsigned area() const override { return side * side; }
    __device__ unsigned edges() const override { return 4; }
};
struct Box : Square {
    unsigned height;
    __device__ Box(unsigned s, unsigned h) : Square(s), height(h) {}
    __device__ unsigned area() const override { return side * height; }
};
struct Dot : Shape { __device__ unsigned area() const override { return 1; } };

KERNEL virtual_functions(ARGS) {
    BEGIN
    Square square(x & 255);
    Box box(y & 255, x >> 24);
    Dot dot;
    Shape *shapes[3] = {&square, &box, &dot};
    Shape *chosen = shapes[x % 3];
    ROW(chosen->area()) ROW(chosen->edges())
}

__device__ unsigned twice(unsigned v) { return 2 * v; }
__device__ unsigned thrice(unsigned v) { return 3 * v; }
__device__ unsigned __noinline__ squared(unsigned v) { return v * v; }
using Function = unsigned (*)(unsigned);
__device__ Function table[4] = {twice, thrice, squared, twice};
__constant__ Function constants[2] = {squared, thrice};

template <class F> __device__ __noinline__ unsigned apply(F f, unsigned v) { return f(v) + 1; }

KERNEL function_pointers(ARGS) {
    BEGIN
    ROW(table[x & 3](y)) ROW(constants[y & 1](x)) ROW(apply([=](unsigned v) { return v ^ y; }, x)) ROW(apply(table[y & 3], x))
    Function f = x & 16 ? twice : squared;
    ROW(f(f(x)))
}

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned k) {
    if (m == 0) return k + 1;
    if (k == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, k - 1));
}
__device__ unsigned is_odd(unsigned v);
__device__ __noinline__ unsigned is_even(unsigned v) { return v == 0 ? 1 : is_odd(v - 1); }
__device__ __noinline__ unsigned is_odd(unsigned v) { return v == 0 ? 0 : is_even(v - 1); }
__device__ __noinline__ void hanoi(unsigned k, unsigned from, unsigned to, unsigned &hash) {
    if (k == 0) return;
    hanoi(k - 1, from, 6 - from - to, hash);
    hash = hash * 31 + from * 4 + to;
    hanoi(k - 1, 6 - from - to, to, hash);
}

KERNEL recursion(ARGS) {
    BEGIN
    ROW(ackermann(x & 1, y & 7)) ROW(is_even(x & 15))
    unsigned hash = 0;
    hanoi(y & 3, 1, 3, hash);
    ROW(hash)
}

KERNEL jumps(ARGS) {
    BEGIN
    unsigned value = x, steps = 0;
again:
    if (value % 7 == 3) goto out_of_here;
    value = value * 1103515245u + 12345u;
    if (++steps < 40) { if (value & 0x100) goto again; else goto again_later; }
    goto out_of_here;
again_later:
    value ^= y;
    if (steps++ < 60) goto again;
out_of_here:
    ROW(value) ROW(steps)
    unsigned total = 0;
    for (unsigned p = 0; p < 20; p++) {
        for (unsigned q = 0;; q++) {
            if (q > (x & 15)) break;
            if ((p + q) % 3 == 0) continue;
            total += p * q;
            if (total > 500 + (y & 255)) goto done;
        }
    }
done:
    ROW(total)
    switch (x % 12) {
    case 0: total += 5;
    case 1: total *= 3; break;
    case 2: case 3: total ^= y; break;
    case 5: return;
    case 7: do { total = total / 2 + 1; } while (total > 10); break;
    case 11: if (y & 1) { total = 1; break; } total = 2;
    default: total += 100;
    }
    ROW(total)
}

KERNEL local_arrays(ARGS) {
    BEGIN
    unsigned v[24];
    unsigned seed = x;
    for (int k = 0; k < 24; k++) { seed = seed * 1664525u + 1013904223u; v[k] = seed >> 8; }
    for (int k = 1; k < 24; k++) {
        unsigned key = v[k];
        int j = k - 1;
        while (j >= 0 && v[j] > key) { v[j + 1] = v[j]; j--; }
        v[j + 1] = key;
    }
    ROW(v[0]) ROW(v[y % 24]) ROW(v[23])
    unsigned size = 1 + x % 9, *heap = (unsigned *)alloca(size * sizeof(unsigned));
    for (unsigned k = 0; k < size; k++) heap[k] = y * (k + 1);
    for (unsigned k = size; k-- > 1;) if (heap[k] > heap[(k - 1) / 2]) { unsigned t = heap[k]; heap[k] = heap[(k - 1) / 2]; heap[(k - 1) / 2] = t; }
    ROW(heap[0])
    unsigned char bytes[16];
    *(uint4 *)bytes = make_uint4(x, y, x ^ y, x + y);
    unsigned short *words = (unsigned short *)bytes;
    bytes[x & 15] += 7; words[y & 7] ^= 0x1111;
    ROW(bytes[3] | bytes[9] << 8) ROW(words[5])
}

struct Matrix { float m[3][3]; };
__device__ __noinline__ Matrix multiply(const Matrix &p, Matrix q) {
    Matrix r;
    for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { r.m[i][j] = 0; for (int k = 0; k < 3; k++) r.m[i][j] += p.m[i][k] * q.m[k][j]; }
    return r;
}
struct Mixed { char c; short s; double d; int3 v; __device__ __noinline__ Mixed grown(int k) const { return {char(c + k), short(s * k), d / k, {v.x + k, v.y - k, v.z * k}}; } };
union Bits { float f; unsigned u; unsigned char b[4]; };
struct Field { unsigned low : 5, middle : 14, high : 13; };

KERNEL structures(ARGS) {
    BEGIN
    Matrix p, q;
    for (int k = 0; k < 9; k++) { p.m[k / 3][k % 3] = (float)(x >> k & 15); q.m[k / 3][k % 3] = (float)(y >> k & 7); }
    Matrix r = multiply(p, multiply(q, p));
    ROW((unsigned)r.m[0][0]) ROW((unsigned)r.m[x % 3][y % 3])
    Mixed mixed{(char)x, (short)y, (double)x, {1, 2, 3}};
    Mixed grown = mixed.grown((y & 7) + 1);
    ROW((unsigned)(int)grown.c) ROW((unsigned)(int)grown.s) ROW((unsigned)grown.d) ROW((unsigned)(grown.v.x ^ grown.v.y ^ grown.v.z))
    Bits bits{(float)x};
    bits.b[1] ^= 0x40;
    ROW(bits.u)
    Field field{x, y, x};
    field.middle += 3; field.high ^= field.low;
    ROW(*(unsigned *)&field)
}

template <int N> struct Power { static __device__ unsigned of(unsigned v) { return v * Power<N - 1>::of(v); } };
template <> struct Power<0> { static __device__ unsigned of(unsigned) { return 1; } };

KERNEL __launch_bounds__(128, 2) templates(ARGS) {
    BEGIN
    unsigned total = 0;
#pragma unroll
    for (int k = 0; k < 6; k++) total += Power<5>::of(x + k);
#pragma unroll 1
    for (unsigned k = 0; k < (y & 31); k++) total = total * 33 + k;
    auto fold = [&](auto... v) { return (v ^ ...); };
    ROW(total) ROW(fold(x, y, 3u, total))
    unsigned long long fibonacci[2] = {0, 1};
    while (fibonacci[0] < y) { auto next = fibonacci[0] + fibonacci[1]; fibonacci[0] = fibonacci[1]; fibonacci[1] = next; }
    ROW((unsigned)fibonacci[1])
    unsigned guess = 0, low = 0, high = 1u << 16;
    while (low < high) { guess = (low + high) / 2; if (guess * guess < (x & 0x7fffffff)) low = guess + 1; else high = guess; }
    ROW(low)
    double root = 1; int rounds = 0;
    for (; rounds < 50; rounds++) { double next = (root + (double)x / root) / 2; if (fabs(next - root) < 1e-9 * next) break; root = next; }
    ROW((unsigned)rounds) ROW((unsigned)__double_as_longlong(root))
}
