// Blocks of 32 numbers share a scale that is a power of two, and become e4m3 or e5m2; back to bfloat16.
#include "native.h"

static inline float as_float(uint u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static inline uint as_uint(float f) {
    uint u;
    memcpy(&u, &f, 4);
    return u;
}

// Rounded to the nearest, ties to even, too large ones to `most`. `digits` after the point, `least`: the exponent of
// the smallest normal number.
static inline uint packed(float v, int digits, int least, uint most) {
    uint u = as_uint(v), sign = u >> 31 << 7, size = u & 0x7fffffff;
    int cut = 23 - digits;
    uint normal = (size + (1u << (cut - 1)) - 1 + (size >> cut & 1)) >> cut;
    normal -= (uint)(least + 126) << digits;
    // A sum with a number whose last place is the smallest subnormal rounds as the unit does.
    float ulp = as_float((uint)(least - digits + 23 + 127) << 23);
    uint small = as_uint(as_float(size) + ulp) - as_uint(ulp);
    uint r = size < (uint)(least + 127) << 23 ? small : normal;
    return sign | (r > most ? most : r);
}

static inline float unpacked(uint b, int digits, int least) {
    uint size = (b & 0x7f) << (23 - digits);
    float v = as_float(size) * as_float((uint)(127 + least + 126) << 23);  // subnormals, too
    return b & 0x80 ? -v : v;
}

static inline __attribute__((always_inline)) void both(const float *restrict in, uchar *restrict out,
                                                       uchar *restrict scales, unsigned short *restrict back,
                                                       float *restrict error, int groups, int digits, int least,
                                                       uint largest, int top) {
    for (int g = 0; g < groups; g++, in += 32, out += 32, back += 32) {
        uint most = 0;
        for (int i = 0; i < 32; i++)
            most = MAX(most, as_uint(in[i]) & 0x7fffffff);
        int exponent = most ? (int)(most >> 23) - 127 - top : 0;
        exponent = MAX(exponent, -126);
        scales[g] = exponent + 127;
        float down = as_float((uint)(127 - exponent) << 23), up = as_float((uint)(127 + exponent) << 23), worst = 0;
#pragma omp simd reduction(max : worst)
        for (int i = 0; i < 32; i++) {
            uint b = packed(in[i] * down, digits, least, largest);
            out[i] = b;
            float v = unpacked(b, digits, least) * up;
            uint u = as_uint(v);
            back[i] = (u + 0x7fff + (u >> 16 & 1)) >> 16;
            float e = fabsf(v - in[i]);
            worst = e > worst ? e : worst;
        }
        error[g] = worst;
    }
}

void run(const float *restrict in, uchar *restrict e4m3, uchar *restrict e5m2, uchar *restrict scales4,
         uchar *restrict scales5, unsigned short *restrict back4, unsigned short *restrict back5,
         float *restrict error4, float *restrict error5, int groups) {
    both(in, e4m3, scales4, back4, error4, groups, 3, -6, 0x7e, 8);
    both(in, e5m2, scales5, back5, error5, groups, 2, -14, 0x7b, 15);
}
