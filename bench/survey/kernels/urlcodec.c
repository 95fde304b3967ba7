// URL decoding of strings of fixed pitch, then encoding in the normal form again.
#include "native.h"
enum { PITCH = 96, OUT_PITCH = 3 * PITCH };

void run(const uchar *restrict in, uchar *restrict decoded, short *restrict length, char *restrict out,
         short *restrict out_length, int n) {
    signed char value[256];
    uchar plain[256] = {['-'] = 1, ['_'] = 1, ['.'] = 1, ['~'] = 1};
    memset(value, -1, sizeof value);
    for (int k = 0; k < 10; k++)
        value['0' + k] = k, plain['0' + k] = 1;
    for (int k = 0; k < 26; k++) {
        plain['a' + k] = plain['A' + k] = 1;
        if (k < 6)
            value['a' + k] = value['A' + k] = 10 + k;
    }
    for (int id = 0; id < n; id++) {
        const uchar *s = in + (long)id * PITCH;
        uchar *d = decoded + (long)id * PITCH;
        int i = 0, len = 0, bad = 0;
        while (i < PITCH && s[i]) {
            uchar c = s[i++];
            if (c == '+')
                c = ' ';
            else if (c == '%') {
                int code = i + 1 < PITCH && value[s[i]] >= 0 ? value[s[i]] * 16 | value[s[i + 1]] : -1;
                if (code < 0) {
                    bad = 1;
                    break;
                }
                c = code, i += 2;
            }
            d[len++] = c;
        }
        memset(d + len, 0, PITCH - len);
        length[id] = bad ? -1 - len : len;
        char *o = out + (long)id * OUT_PITCH, *start = o;
        for (int k = 0; !bad && k < len; k++) {
            uchar c = d[k];
            if (plain[c])
                *o++ = c;
            else {
                *o++ = '%';
                *o++ = "0123456789ABCDEF"[c >> 4];
                *o++ = "0123456789ABCDEF"[c & 15];
            }
        }
        out_length[id] = o - start;
    }
}
