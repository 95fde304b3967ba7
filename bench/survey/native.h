// What the survey's C files share.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long long ull;

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#if defined(__x86_64__) && defined(__GLIBC__)
// So gcc vectorises calls of them (by libmvec) without giving up IEEE arithmetic elsewhere.
__attribute__((simd("notinbranch"))) extern float expf(float);
__attribute__((simd("notinbranch"))) extern float tanhf(float);
#endif
