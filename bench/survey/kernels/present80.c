#include "native.h"

// PRESENT-80 as a stream cipher, by tables.
enum { ROUNDS = 31 };
static const uchar sbox[16] = {0xC, 5, 6, 0xB, 9, 0, 0xA, 0xD, 3, 0xE, 0xF, 8, 4, 7, 1, 2};

void run(const ull *restrict text, ull *restrict out, ull high, uint key_low, ull nonce, int n) {
    ull table[8][256], keys[ROUNDS + 1];
    for (int k = 0; k < 8; k++)
        for (int byte = 0; byte < 256; byte++) {
            uint replaced = sbox[byte & 15] | sbox[byte >> 4] << 4;
            ull moved = 0;
            for (int b = 0; b < 8; b++) {
                int bit = 8 * k + b;
                moved |= (ull)(replaced >> b & 1) << (bit == 63 ? 63 : bit * 16 % 63);
            }
            table[k][byte] = moved;
        }
    uint low = key_low & 0xffff;
    for (int round = 1; round <= ROUNDS + 1; round++) {
        keys[round - 1] = high;
        ull h = high;
        high = h << 61 | (ull)low << 45 | h >> 19;
        low = h >> 3 & 0xffff;
        high = (high & 0x0FFFFFFFFFFFFFFFull) | (ull)sbox[high >> 60] << 60;
        high ^= round >> 1;
        low ^= (round & 1) << 15;
    }
    for (int i = 0; i < n; i++) {
        ull s = nonce + i;
        for (int round = 0; round < ROUNDS; round++) {
            s ^= keys[round];
            s = ((table[0][s & 255] ^ table[1][s >> 8 & 255]) ^ (table[2][s >> 16 & 255] ^ table[3][s >> 24 & 255])) ^
                ((table[4][s >> 32 & 255] ^ table[5][s >> 40 & 255]) ^ (table[6][s >> 48 & 255] ^ table[7][s >> 56]));
        }
        out[i] = text[i] ^ s ^ keys[ROUNDS];
    }
}
