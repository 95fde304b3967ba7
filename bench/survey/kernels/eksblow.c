#include "native.h"

typedef struct {
    uint p[18], s[4][256];
} Blowfish;

static inline void encrypt(const Blowfish *b, uint *left, uint *right) {
    uint l = *left ^ b->p[0], r = *right;
#define F(x) (((b->s[0][(x) >> 24] + b->s[1][(x) >> 16 & 255]) ^ b->s[2][(x) >> 8 & 255]) + b->s[3][(x) & 255])
#pragma GCC unroll 8
    for (int i = 1; i < 17; i += 2) {
        r ^= F(l) ^ b->p[i];
        l ^= F(r) ^ b->p[i + 1];
    }
    *left = r ^ b->p[17];
    *right = l;
}

static inline void expand(Blowfish *b, const uint *salt, const uint *key) {
    uint l = 0, r = 0, *s = b->s[0];
    int at = 0;
    for (int i = 0; i < 18; i++)
        b->p[i] ^= key[i];
    for (int i = 0; i < 18; i += 2, at ^= 2) {
        l ^= salt[at], r ^= salt[at + 1];
        encrypt(b, &l, &r);
        b->p[i] = l, b->p[i + 1] = r;
    }
    for (int i = 0; i < 1024; i += 2, at ^= 2) {
        l ^= salt[at], r ^= salt[at + 1];
        encrypt(b, &l, &r);
        s[i] = l, s[i + 1] = r;
    }
}

void run(const uint *restrict first_p, const uint *restrict first_s, const uint *restrict keys,
         const uint *restrict salts, uint *restrict hash, int n, int log_rounds) {
    static const uint none[4];
    for (int id = 0; id < n; id++) {
        Blowfish b;
        uint salt_key[18], text[6] = {0x4f727068, 0x65616e42, 0x65686f6c, 0x64657253, 0x63727944, 0x6f756274};
        memcpy(b.p, first_p, sizeof b.p);
        memcpy(b.s, first_s, sizeof b.s);
        for (int i = 0; i < 18; i++)
            salt_key[i] = salts[4 * id + (i & 3)];
        expand(&b, salts + 4 * id, keys + 18 * id);
        for (uint r = 0; r < 1u << log_rounds; r++) {
            expand(&b, none, keys + 18 * id);
            expand(&b, none, salt_key);
        }
        for (int i = 0; i < 6; i += 2)
            for (int k = 0; k < 64; k++)
                encrypt(&b, &text[i], &text[i + 1]);
        memcpy(hash + 6 * id, text, sizeof text);
    }
}
