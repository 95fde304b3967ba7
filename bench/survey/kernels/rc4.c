// RC4 with a key of its own for each message.
#include "native.h"

void run(const uchar *restrict keys, const uchar *restrict text, uchar *restrict out, int key_length, int messages,
         int length, int dropped) {
    for (int m = 0; m < messages; m++) {
        uchar s[256], i = 0, j = 0, t;
        const uchar *key = keys + (long)m * key_length;
        for (int k = 0; k < 256; k++)
            s[k] = k;
        for (int k = 0, at = 0; k < 256; k++) {
            j += s[k] + key[at];
            at = at + 1 == key_length ? 0 : at + 1;
            t = s[k], s[k] = s[j], s[j] = t;
        }
        j = 0;
        for (int k = -dropped; k < length; k++) {
            uchar a = s[++i], b;
            j += a;
            b = s[j];
            s[i] = b, s[j] = a;
            if (k >= 0)
                out[(long)m * length + k] = text[(long)m * length + k] ^ s[(uchar)(a + b)];
        }
    }
}
