// Is a buffer UTF-8? Eight bytes of ASCII at once, everything else byte by byte.
#include "native.h"

typedef struct {
    ull first_error;
    uint errors, characters[5];
} Utf8Report;

static inline int continues(const uchar *text, uint n, uint at) {
    return at < n && (text[at] & 0xc0) == 0x80;
}

void run(const uchar *restrict text, Utf8Report *restrict report, uint n) {
    Utf8Report r = *report;
    uint covered = 0;  // up to where bytes belong to a character's beginning
    for (uint i = 0; i < n;) {
        ull eight;
        if (i + 8 <= n && (memcpy(&eight, text + i, 8), (eight & 0x8080808080808080) == 0)) {
            r.characters[1] += 8;
            i += 8;
            continue;
        }
        uchar c = text[i];
        int good, length = 1;
        if (c < 0x80)
            good = 1;
        else if (c < 0xc0) {
            good = i < covered;
            length = 0;
        } else if (c < 0xe0) {
            length = 2;
            good = c >= 0xc2 && continues(text, n, i + 1);
        } else if (c < 0xf0) {
            length = 3;
            good = continues(text, n, i + 1) && continues(text, n, i + 2) && !(c == 0xe0 && text[i + 1] < 0xa0) &&
                   !(c == 0xed && text[i + 1] >= 0xa0);
        } else if (c < 0xf8) {
            length = 4;
            good = continues(text, n, i + 1) && continues(text, n, i + 2) && continues(text, n, i + 3) &&
                   !(c == 0xf0 && text[i + 1] < 0x90) && (c < 0xf4 || (c == 0xf4 && text[i + 1] < 0x90));
        } else
            good = 0;
        if (good) {
            r.characters[length] += length > 0;
        } else {
            r.errors++;
            r.first_error = MIN(r.first_error, i);
        }
        if (length > 1) {
            covered = MAX(covered, i + length);
            if (good) {
                i += length;
                continue;
            }
        }
        i++;
    }
    *report = r;
}
