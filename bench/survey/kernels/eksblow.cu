// bcrypt's costly key schedule: eight passwords a block, the four S-boxes of each in shared memory.
typedef unsigned int u32;
#define PER_BLOCK 8

struct Blowfish {
    u32 *s; // 4 x 256
    u32 p[18];

    __device__ __forceinline__ u32 f(u32 x) const {
        return ((s[x >> 24] + s[256 + (x >> 16 & 255)]) ^ s[512 + (x >> 8 & 255)]) + s[768 + (x & 255)];
    }
    __device__ void encrypt(u32 &l, u32 &r) const {
        l ^= p[0];
#pragma unroll
        for (int i = 1; i < 17; i += 2) {
            r ^= f(l) ^ p[i];
            l ^= f(r) ^ p[i + 1];
        }
        u32 t = r ^ p[17];
        r = l;
        l = t;
    }
    __device__ void expand(const u32 *salt, const u32 *key) {
        for (int i = 0; i < 18; i++)
            p[i] ^= key[i];
        u32 l = 0, r = 0;
        int at = 0;
        for (int i = 0; i < 18; i += 2) {
            l ^= salt[at];
            r ^= salt[at + 1];
            at ^= 2;
            encrypt(l, r);
            p[i] = l;
            p[i + 1] = r;
        }
        for (int i = 0; i < 1024; i += 2) {
            l ^= salt[at];
            r ^= salt[at + 1];
            at ^= 2;
            encrypt(l, r);
            s[i] = l;
            s[i + 1] = r;
        }
    }
};

extern "C" __global__ void __launch_bounds__(PER_BLOCK)
    eksblow(const u32 *__restrict__ first_p, const u32 *__restrict__ first_s, const u32 *__restrict__ keys,
            const u32 *__restrict__ salts, u32 *__restrict__ hash, int n, int log_rounds) {
    __shared__ u32 boxes[PER_BLOCK][1024];
    const int id = blockIdx.x * PER_BLOCK + threadIdx.x;
    if (id >= n)
        return;
    Blowfish state;
    state.s = boxes[threadIdx.x];
    for (int i = 0; i < 1024; i++)
        state.s[i] = first_s[i];
    u32 key[18], salt[4], salt_key[18];
    const u32 none[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++)
        salt[i] = salts[4 * id + i];
    for (int i = 0; i < 18; i++) {
        state.p[i] = first_p[i];
        key[i] = keys[18 * id + i];
        salt_key[i] = salt[i & 3];
    }
    state.expand(salt, key);
    for (u32 r = 0; r < 1u << log_rounds; r++) {
        state.expand(none, key);
        state.expand(none, salt_key);
    }
    u32 text[6] = {0x4f727068, 0x65616e42, 0x65686f6c, 0x64657253, 0x63727944, 0x6f756274};
    for (int i = 0; i < 6; i += 2)
        for (int k = 0; k < 64; k++)
            state.encrypt(text[i], text[i + 1]);
    for (int i = 0; i < 6; i++)
        hash[6 * id + i] = text[i];
}
