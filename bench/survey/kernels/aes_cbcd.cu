// AES in CBC mode, decrypted (keys of 128 or 256 bits): tables are made on the device, keys are expanded by one thread,
// then each thread takes blocks of 16 bytes; tables in shared memory.
typedef unsigned int u32;
typedef unsigned char u8;

__host__ __device__ __forceinline__ u8 times(u8 a, u8 b) {
    u8 product = 0;
    for (int i = 0; i < 8; i++) {
        if (b & 1)
            product ^= a;
        a = (u8)(a << 1 ^ (a & 0x80 ? 0x1b : 0));
        b >>= 1;
    }
    return product;
}

__device__ __forceinline__ u32 swapped(u32 x) {
    return __byte_perm(x, 0, 0x0123);
}

template <int N>
__device__ __forceinline__ u32 rotr(u32 x) {
    return __funnelshift_r(x, x, N);
}

__device__ u32 inverse_mix(u8 s) {
    return (u32)times(s, 14) << 24 | (u32)times(s, 9) << 16 | (u32)times(s, 13) << 8 | times(s, 11);
}

// One block of 256 threads.
extern "C" __global__ void aes_tables(u8 *sbox, u8 *inverse, u32 *td) {
    const u8 x = threadIdx.x;
    u8 power = x, inv = 1;  // x to the 254th
    for (int e = 254; e > 0; e >>= 1) {
        if (e & 1)
            inv = times(inv, power);
        power = times(power, power);
    }
    u8 s = inv ^ (u8)(inv << 1 | inv >> 7) ^ (u8)(inv << 2 | inv >> 6) ^ (u8)(inv << 3 | inv >> 5) ^
           (u8)(inv << 4 | inv >> 4) ^ 0x63;
    sbox[x] = s;
    inverse[s] = x;
    td[s] = inverse_mix(x);
}

__device__ __forceinline__ u32 substituted(const u8 *sbox, u32 w) {
    return (u32)sbox[w >> 24] << 24 | (u32)sbox[w >> 16 & 255] << 16 | (u32)sbox[w >> 8 & 255] << 8 | sbox[w & 255];
}

// One thread: the schedule, then all but the first and last four words through the inverse of mixing.
extern "C" __global__ void aes_expand(const u32 *key, const u8 *sbox, u32 *schedule, int nk) {
    const int rounds = nk + 6, words = 4 * (rounds + 1);
    for (int i = 0; i < nk; i++)
        schedule[i] = swapped(key[i]);
    u8 constant = 1;
    for (int i = nk; i < words; i++) {
        u32 t = schedule[i - 1];
        if (i % nk == 0) {
            t = substituted(sbox, rotr<24>(t)) ^ (u32)constant << 24;
            constant = times(constant, 2);
        } else if (nk > 6 && i % nk == 4) {
            t = substituted(sbox, t);
        }
        schedule[i] = schedule[i - nk] ^ t;
    }
    for (int i = 4; i < words - 4; i++) {
        u32 w = schedule[i];
        schedule[i] = inverse_mix(w >> 24) ^ rotr<8>(inverse_mix(w >> 16 & 255)) ^
                      rotr<16>(inverse_mix(w >> 8 & 255)) ^ rotr<24>(inverse_mix(w & 255));
    }
}

template <int ROUNDS>
__device__ uint4 decrypt(uint4 s, const u32 *td, const u8 *inverse, const u32 *keys) {
    s.x ^= keys[4 * ROUNDS];
    s.y ^= keys[4 * ROUNDS + 1];
    s.z ^= keys[4 * ROUNDS + 2];
    s.w ^= keys[4 * ROUNDS + 3];
#define COLUMN(a, b, c, d, k)                                                                                  \
    (td[(a) >> 24] ^ rotr<8>(td[(b) >> 16 & 255]) ^ rotr<16>(td[(c) >> 8 & 255]) ^ rotr<24>(td[(d) & 255]) ^ (k))
#define LAST(a, b, c, d, k)                                                                                    \
    (((u32)inverse[(a) >> 24] << 24 | (u32)inverse[(b) >> 16 & 255] << 16 | (u32)inverse[(c) >> 8 & 255] << 8 | \
      inverse[(d) & 255]) ^ (k))
#pragma unroll
    for (int r = ROUNDS - 1; r > 0; r--) {
        uint4 t;
        t.x = COLUMN(s.x, s.w, s.z, s.y, keys[4 * r]);
        t.y = COLUMN(s.y, s.x, s.w, s.z, keys[4 * r + 1]);
        t.z = COLUMN(s.z, s.y, s.x, s.w, keys[4 * r + 2]);
        t.w = COLUMN(s.w, s.z, s.y, s.x, keys[4 * r + 3]);
        s = t;
    }
    return make_uint4(LAST(s.x, s.w, s.z, s.y, keys[0]), LAST(s.y, s.x, s.w, s.z, keys[1]),
                      LAST(s.z, s.y, s.x, s.w, keys[2]), LAST(s.w, s.z, s.y, s.x, keys[3]));
}

__device__ __forceinline__ uint4 swapped(uint4 v) {
    return make_uint4(swapped(v.x), swapped(v.y), swapped(v.z), swapped(v.w));
}

extern "C" __global__ void __launch_bounds__(128) aes_cbcd(const uint4 *__restrict__ cipher, uint4 *__restrict__ plain,
                                                           const u32 *__restrict__ table,
                                                           const u8 *__restrict__ inverse_table,
                                                           const u32 *__restrict__ schedule, uint4 iv, int nk,
                                                           int count) {
    __shared__ u32 td[256], keys[60];
    __shared__ u8 inverse[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        td[i] = table[i];
        inverse[i] = inverse_table[i];
    }
    if (threadIdx.x < 4 * (nk + 7))
        keys[threadIdx.x] = schedule[threadIdx.x];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        uint4 in = swapped(cipher[i]), out;
        if (nk == 4)
            out = decrypt<10>(in, td, inverse, keys);
        else
            out = decrypt<14>(in, td, inverse, keys);
        uint4 before = i > 0 ? cipher[i - 1] : iv;
        out = swapped(out);
        plain[i] = make_uint4(out.x ^ before.x, out.y ^ before.y, out.z ^ before.z, out.w ^ before.w);
    }
}
