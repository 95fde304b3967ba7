// AES in CBC mode, decrypted by four tables, which are made first.
#include "native.h"

static uchar times(uchar a, uchar b) {
    uchar product = 0;
    for (int i = 0; i < 8; i++) {
        if (b >> i & 1)
            product ^= a;
        a = a << 1 ^ (a & 0x80 ? 0x1b : 0);
    }
    return product;
}

static uint rotr(uint x, int n) {
    return x >> n | x << (32 - n);
}

static uint sub(const uchar *s, uint w) {
    return (uint)s[w >> 24] << 24 | (uint)s[w >> 16 & 255] << 16 | (uint)s[w >> 8 & 255] << 8 | s[w & 255];
}

void run(const uint *restrict cipher, uint *restrict plain, const uint *restrict key, const uint *restrict iv, int nk,
         int count) {
    uchar sbox[256], inverse[256], log[256], power[256];
    uint td[4][256], keys[60];
    int rounds = nk + 6, words = 4 * (rounds + 1);
    uchar p = 1;
    for (int i = 0; i < 255; i++) {
        power[i] = p;
        log[p] = i;
        p = times(p, 3);
    }
    for (int x = 0; x < 256; x++) {
        uchar v = x == 0 ? 0 : power[(255 - log[x]) % 255];
        uchar s = v ^ (uchar)(v << 1 | v >> 7) ^ (uchar)(v << 2 | v >> 6) ^ (uchar)(v << 3 | v >> 5) ^
                  (uchar)(v << 4 | v >> 4) ^ 0x63;
        sbox[x] = s;
        inverse[s] = x;
        uint w = (uint)times(x, 14) << 24 | times(x, 9) << 16 | times(x, 13) << 8 | times(x, 11);
        td[0][s] = w;
        td[1][s] = rotr(w, 8);
        td[2][s] = rotr(w, 16);
        td[3][s] = rotr(w, 24);
    }
    uchar constant = 1;
    for (int i = 0; i < nk; i++)
        keys[i] = __builtin_bswap32(key[i]);
    for (int i = nk; i < words; i++) {
        uint t = keys[i - 1];
        if (i % nk == 0) {
            t = sub(sbox, rotr(t, 24)) ^ (uint)constant << 24;
            constant = times(constant, 2);
        } else if (nk > 6 && i % nk == 4)
            t = sub(sbox, t);
        keys[i] = keys[i - nk] ^ t;
    }
    for (int i = 4; i < words - 4; i++) {
        uint w = sub(sbox, keys[i]);
        keys[i] = td[0][w >> 24] ^ td[1][w >> 16 & 255] ^ td[2][w >> 8 & 255] ^ td[3][w & 255];
    }
    const uint *before = iv;
    for (long i = 0; i < count; i++) {
        uint s[4], t[4];
        for (int c = 0; c < 4; c++)
            s[c] = __builtin_bswap32(cipher[4 * i + c]) ^ keys[4 * rounds + c];
        for (int r = rounds - 1; r > 0; r--) {
            for (int c = 0; c < 4; c++)
                t[c] = td[0][s[c] >> 24] ^ td[1][s[(c + 3) % 4] >> 16 & 255] ^ td[2][s[(c + 2) % 4] >> 8 & 255] ^
                       td[3][s[(c + 1) % 4] & 255] ^ keys[4 * r + c];
            memcpy(s, t, sizeof s);
        }
        for (int c = 0; c < 4; c++) {
            uint w = (uint)inverse[s[c] >> 24] << 24 | (uint)inverse[s[(c + 3) % 4] >> 16 & 255] << 16 |
                     (uint)inverse[s[(c + 2) % 4] >> 8 & 255] << 8 | inverse[s[(c + 1) % 4] & 255];
            plain[4 * i + c] = __builtin_bswap32(w ^ keys[c]) ^ before[c];
        }
        before = cipher + 4 * i;
    }
}
