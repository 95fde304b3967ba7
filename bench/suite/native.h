// What the C versions share: the element type, vectors of one 512-bit register, libmvec's functions.
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <tgmath.h>
#ifndef REAL
#define REAL float
#endif
typedef unsigned int uint;

enum { LANES = 64 / sizeof(REAL) };
typedef REAL vec __attribute__((vector_size(64)));
typedef REAL vec_unaligned __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint uvec __attribute__((vector_size(64)));
typedef uint uvec_unaligned __attribute__((vector_size(64), aligned(4), may_alias));
typedef int ivec __attribute__((vector_size(64)));
// What a comparison of `vec` gives.
typedef __typeof__(__builtin_choose_expr(sizeof(REAL) == 8, 0ll, 0)) mask_lane;
typedef mask_lane mask __attribute__((vector_size(64)));

// Lanes of `a` where `m` is set, of `b` elsewhere.
#define SELECT(m, a, b) ((vec)(((mask)(a) & (m)) | ((mask)(b) & ~(m))))
#define USELECT(m, a, b) ((uvec)(((ivec)(a) & (ivec)(m)) | ((ivec)(b) & ~(ivec)(m))))
#define LOAD(address) (*(const vec_unaligned *)(address))
#define STORE(address, value) (*(vec_unaligned *)(address) = (value))
#define ULOAD(address) (*(const uvec_unaligned *)(address))
#define USTORE(address, value) (*(uvec_unaligned *)(address) = (value))

#if defined(__x86_64__) && defined(__GLIBC__)
// So gcc vectorises calls of them without giving up IEEE arithmetic elsewhere.
#pragma GCC diagnostic ignored "-Wredundant-decls"
__attribute__((simd("notinbranch"))) extern float expf(float);
__attribute__((simd("notinbranch"))) extern double(exp)(double);
__attribute__((simd("notinbranch"))) extern float logf(float);
__attribute__((simd("notinbranch"))) extern double(log)(double);
#endif
