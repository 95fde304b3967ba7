// Soundex codes of names, and how often each code occurs.
#include "native.h"
enum { PITCH = 20 };

void run(const char *restrict names, char *restrict codes, int *restrict histogram, int n) {
    static const char digit[] = "01230120022455012623010202";  // 'H' and 'W' are asked for below
    signed char of[256];
    memset(of, 100, sizeof of);
    for (int c = 0; c < 26; c++)
        of['A' + c] = of['a' + c] = c == 'H' - 'A' || c == 'W' - 'A' ? -1 : digit[c] - '0';
    for (int i = 0; i < n; i++) {
        const char *s = names + i * PITCH, *end = s + PITCH;
        char *code = codes + i * 4;
        memcpy(code, "?000", 4);
        while (s < end && *s && of[(uchar)*s] == 100)
            s++;
        if (s == end || !*s)
            continue;
        code[0] = *s & ~32;
        int last = of[(uchar)*s++], found = 0;
        for (; s < end && *s; s++) {
            int d = of[(uchar)*s];
            if (d < 0 || d == 100)
                continue;
            if (d && d != last) {
                code[++found] = '0' + d;
                if (found == 3)
                    break;
            }
            last = d;
        }
        histogram[(((code[0] - 'A') * 7 + code[1] - '0') * 7 + code[2] - '0') * 7 + code[3] - '0']++;
    }
}
