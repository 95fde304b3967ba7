// A Vigenere cipher and its breaking by coincidences and letter frequencies.
#include "native.h"

static const double english[26] = {8.167, 1.492, 2.782, 4.253, 12.702, 2.228, 2.015, 6.094, 6.966,
                                   0.153, 0.772, 4.025, 2.406, 6.749,  7.507, 1.929, 0.095, 5.987,
                                   6.327, 9.056, 2.758, 0.978, 2.360,  0.150, 1.974, 0.074};

void run(const uchar *restrict text, uchar *restrict out, const char *restrict key, int *restrict counts,
         double *restrict index, char *restrict guess, int n, int key_length, int max_length) {
    // The index of a letter, or 26: two rows of counters, of which the last is for all else.
    uchar kind[256], *restrict kinds = malloc(n);
    for (int c = 0; c < 256; c++) {
        int lower = c | 32;
        kind[c] = lower >= 'a' && lower <= 'z' ? lower - 'a' : 26;
    }
    for (int i = 0, k = 0; i < n; i++) {
        int c = text[i], l = kind[c];
        if (l < 26) {
            int moved = l + key[k] - 'a';
            moved -= moved >= 26 ? 26 : 0;
            c += moved - l;
        }
        out[i] = c;
        kinds[i] = kind[c];
        k = k + 1 == key_length ? 0 : k + 1;
    }
    int all[27] = {0};
    for (int i = 0; i < n; i++)
        all[kinds[i]]++;
    for (int l = 0; l < 26; l++)
        counts[l] += all[l];
    for (int length = 1; length <= max_length; length++) {
        int(*own)[32] = calloc(length, sizeof *own);
        for (int i = 0, k = 0; i < n; i++) {
            own[k][kinds[i]]++;
            k = k + 1 == length ? 0 : k + 1;
        }
        double sum = 0;
        for (int k = 0; k < length; k++) {
            double same = 0;
            int total = 0;
            for (int l = 0; l < 26; l++)
                same += (double)own[k][l] * (own[k][l] - 1), total += own[k][l];
            if (total > 1)
                sum += same / ((double)total * (total - 1));
        }
        index[length - 1] = sum / length;
        free(own);
    }
    for (int k = 0; k < key_length; k++) {
        int own[27] = {0}, total = 0, best = 0;
        for (int i = k; i < n; i += key_length)
            own[kinds[i]]++;
        for (int l = 0; l < 26; l++)
            total += own[l];
        double least = 1e300;
        for (int shift = 0; shift < 26; shift++) {
            double chi = 0;
            for (int l = 0, m = shift; l < 26; l++) {
                double wanted = english[l] / 100 * total, d = own[m] - wanted;
                chi += d * d / wanted;
                m = m == 25 ? 0 : m + 1;
            }
            if (chi < least)
                least = chi, best = shift;
        }
        guess[k] = 'a' + best;
    }
    free(kinds);
}
