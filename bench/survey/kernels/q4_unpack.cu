// Weights of four bits in groups of 32, each group with a scale, as floats: two a thread.
#include <cuda_fp16.h>

struct Group {
    __half scale;
    unsigned char pairs[16];
};

extern "C" __global__ void q4_unpack(const Group *groups, float *out, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    int group = i / 32, pair = i % 32 / 2;
    float scale = __half2float(groups[group].scale);
    int both = groups[group].pairs[pair];
    float *own = out + i - i % 32;
    own[pair] = ((both & 15) - 8) * scale;
    own[pair + 16] = ((both >> 4) - 8) * scale;
}
