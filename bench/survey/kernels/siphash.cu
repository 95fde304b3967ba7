// SipHash-2-4 of strings of any length, and a table of how many fall into each bucket.
typedef unsigned long long u64;

__host__ __device__ inline u64 rotl(u64 x, int b) {
    return (x << b) | (x >> (64 - b));
}

struct SipState {
    u64 v0, v1, v2, v3;

    __device__ SipState(u64 k0, u64 k1)
        : v0(k0 ^ 0x736f6d6570736575ULL), v1(k1 ^ 0x646f72616e646f6dULL), v2(k0 ^ 0x6c7967656e657261ULL),
          v3(k1 ^ 0x7465646279746573ULL) {}

    __device__ void round() {
        v0 += v1;
        v1 = rotl(v1, 13);
        v1 ^= v0;
        v0 = rotl(v0, 32);
        v2 += v3;
        v3 = rotl(v3, 16);
        v3 ^= v2;
        v0 += v3;
        v3 = rotl(v3, 21);
        v3 ^= v0;
        v2 += v1;
        v1 = rotl(v1, 17);
        v1 ^= v2;
        v2 = rotl(v2, 32);
    }

    __device__ void absorb(u64 m) {
        v3 ^= m;
        for (int i = 0; i < 2; i++)
            round();
        v0 ^= m;
    }

    __device__ u64 finish() {
        v2 ^= 0xff;
        for (int i = 0; i < 4; i++)
            round();
        return v0 ^ v1 ^ v2 ^ v3;
    }
};

__device__ u64 siphash24(const unsigned char *data, size_t length, u64 k0, u64 k1) {
    SipState state(k0, k1);
    size_t whole = length - length % 8;
    for (size_t at = 0; at < whole; at += 8) {
        u64 m = 0;
        for (int b = 0; b < 8; b++)
            m |= (u64)data[at + b] << (8 * b);
        state.absorb(m);
    }
    u64 last = (u64)length << 56;
    switch (length & 7) {
    case 7: last |= (u64)data[whole + 6] << 48;
    case 6: last |= (u64)data[whole + 5] << 40;
    case 5: last |= (u64)data[whole + 4] << 32;
    case 4: last |= (u64)data[whole + 3] << 24;
    case 3: last |= (u64)data[whole + 2] << 16;
    case 2: last |= (u64)data[whole + 1] << 8;
    case 1: last |= (u64)data[whole];
    case 0: break;
    }
    state.absorb(last);
    return state.finish();
}

extern "C" __global__ void siphash(const unsigned char *data, const int *offsets, int count, u64 k0, u64 k1,
                                   u64 *hashes, int *buckets, int num_buckets) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        u64 h = siphash24(data + offsets[i], offsets[i + 1] - offsets[i], k0, k1);
        hashes[i] = h;
        atomicAdd(&buckets[h % num_buckets], 1);
    }
}
