// RSA-1024 signatures raised to 65537: a warp a number, a limb of 32 bits a lane, Montgomery products by shuffles.
#define FULL 0xffffffffu
typedef unsigned int u32;
typedef unsigned long long u64;

// a - b over all lanes, and whether it borrows: borrows travel by one addition of ballots.
__device__ __forceinline__ u32 warp_sub(u32 a, u32 b, int lane, bool &borrow) {
    u64 makes = __ballot_sync(FULL, a < b), passes = __ballot_sync(FULL, a == b);
    u64 p = makes | passes;
    u64 carries = (p + makes) ^ p ^ makes;
    borrow = carries >> 32 & 1;
    return a - b - (u32)(carries >> lane & 1);
}

__device__ u32 mont_mul(u32 a, u32 b, u32 n, u32 n0, int lane) {
    u64 acc = 0;
    u32 top = 0;
    for (int i = 0; i < 32; i++) {
        u64 ab = (u64)a * __shfl_sync(FULL, b, i);
        acc += (u32)ab;
        u32 m = __shfl_sync(FULL, (u32)acc * n0, 0);
        u64 mn = (u64)m * n;
        acc += (u32)mn;
        u32 down = __shfl_down_sync(FULL, (u32)acc, 1);
        acc = (acc >> 32) + (ab >> 32) + (mn >> 32) + (lane == 31 ? 0u : down);
    }
    while (__any_sync(FULL, acc >> 32)) {
        u32 carry = (u32)(acc >> 32);
        u32 from = __shfl_up_sync(FULL, carry, 1);
        top += __shfl_sync(FULL, carry, 31);
        acc = (u64)(u32)acc + (lane == 0 ? 0u : from);
    }
    bool less;
    u32 r = warp_sub((u32)acc, n, lane, less);
    return top || !less ? r : (u32)acc;
}

__device__ __forceinline__ u32 inverse(u32 n) {
    u32 x = n;
#pragma unroll
    for (int i = 0; i < 4; i++)
        x *= 2 - n * x;
    return x;
}

extern "C" __global__ void rsa_warp(const u32 *__restrict__ signature, const int *__restrict__ key_of,
                                    const u32 *__restrict__ modulus, const u32 *__restrict__ r_squared,
                                    u32 *__restrict__ message, int count) {
    const int lane = threadIdx.x & 31;
    const int warps = gridDim.x * (blockDim.x >> 5);
    for (int w = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); w < count; w += warps) {
        int key = key_of[w];
        u32 n = modulus[32 * key + lane];
        u32 n0 = 0u - inverse(__shfl_sync(FULL, n, 0));
        u32 s = mont_mul(signature[32 * w + lane], r_squared[32 * key + lane], n, n0, lane);
        u32 x = s;
        for (int i = 0; i < 16; i++)
            x = mont_mul(x, x, n, n0, lane);
        x = mont_mul(x, s, n, n0, lane);
        message[32 * w + lane] = mont_mul(x, lane == 0 ? 1u : 0u, n, n0, lane);
    }
}
