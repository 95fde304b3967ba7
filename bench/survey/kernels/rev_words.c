// Words of lines in reverse order, palindromes and longest words.
#include "native.h"

void run(const char *restrict text, const int *restrict start, char *restrict out, uchar *restrict palindrome,
         short *restrict longest, int lines) {
    uchar folded[256] = {0};  // a small letter, or 0
    for (int c = 'a'; c <= 'z'; c++)
        folded[c] = folded[c - 32] = c;
    for (int i = 0; i < lines; i++) {
        const char *restrict line = text + start[i];
        int length = start[i + 1] - start[i] - 1, most = 0, now = 0;
        char *restrict to = out + start[i];
        to[length] = '\n';
        for (int word = 0; word <= length;) {
            int end = word;
            while (end < length && line[end] != ' ')
                end++;
            char *at = to + length - end;
            for (int k = word; k < end; k++)
                *at++ = line[k];
            if (end < length)
                to[length - end - 1] = ' ';
            word = end + 1;
        }
        for (int k = 0; k < length; k++) {
            now = folded[(uchar)line[k]] ? now + 1 : 0;
            most = MAX(most, now);
        }
        longest[i] = most;
        int a = 0, b = length - 1, same = 1;
        while (a < b) {
            uchar p = folded[(uchar)line[a]], q = folded[(uchar)line[b]];
            if (!p) {
                a++;
            } else if (!q) {
                b--;
            } else if (p != q) {
                same = 0;
                break;
            } else {
                a++, b--;
            }
        }
        palindrome[i] = same;
    }
}
