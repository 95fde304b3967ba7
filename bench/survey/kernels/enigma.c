// A three-rotor Enigma with a word that is thought to be at the start, for all positions of the rotors.
#include "native.h"

static const char wiring[5][27] = {"EKMFLGDQVZNTOWYHXUSPAIBRCJ", "AJDKSIRUXBLHWTMCQGZNPYFVOE",
                                   "BDFHJLCPRTXVZNYEIWGAKMUSQO", "ESOVPZJAYQUIRHXLNFTGKDCMWB",
                                   "VZBRGITYUPSDNHLXAWMJQOFECK"};
static const char notches[] = "QEVJZ", reflector[] = "YRUHQSLDPXNGOKMIEBFZCWVJAT";
static const uchar orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {3, 4, 0}, {4, 2, 3}, {2, 1, 4}};

static int wrap(int c) {
    return c >= 26 ? c - 26 : c < 0 ? c + 26 : c;
}

static int forward(const char *rotor, int position, int c) {
    return wrap(rotor[wrap(c + position)] - 'A' - position);
}

static int backward(const char *rotor, int position, int c) {
    const char *found = memchr(rotor, 'A' + wrap(c + position), 26);
    return wrap((int)(found - rotor) - position);
}

void run(const char *restrict cipher, const char *restrict crib, uchar *restrict score, uint *restrict best,
         int length, int settings) {
    uint most = *best;
    for (int id = 0; id < settings; id++) {
        const uchar *order = orders[id / 17576];
        const char *left = wiring[order[0]], *mid = wiring[order[1]], *right = wiring[order[2]];
        int rest = id % 17576, a = rest / 676, b = rest / 26 % 26, c = rest % 26, hits = 0, misses = 0;
        int notch_b = notches[order[1]] - 'A', notch_c = notches[order[2]] - 'A';
        for (int k = 0; k < length; k++) {
            int middle = b == notch_b;
            a = wrap(a + middle);
            b = wrap(b + (middle || c == notch_c));
            c = wrap(c + 1);
            int x = forward(left, a, forward(mid, b, forward(right, c, cipher[k] - 'A')));
            x = backward(right, c, backward(mid, b, backward(left, a, reflector[x] - 'A')));
            if (x == crib[k] - 'A')
                hits++;
            else if (++misses > 6)
                break;
        }
        score[id] = hits;
        most = MAX(most, (uint)hits << 20 | id);
    }
    *best = most;
}
