// A three-rotor Enigma with a word that is thought to be at the start, for all positions of the rotors.
#include "native.h"

static const char wiring[5][27] = {"EKMFLGDQVZNTOWYHXUSPAIBRCJ", "AJDKSIRUXBLHWTMCQGZNPYFVOE",
                                   "BDFHJLCPRTXVZNYEIWGAKMUSQO", "ESOVPZJAYQUIRHXLNFTGKDCMWB",
                                   "VZBRGITYUPSDNHLXAWMJQOFECK"};
static const char notches[] = "QEVJZ", reflector[] = "YRUHQSLDPXNGOKMIEBFZCWVJAT";
static const uchar orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {3, 4, 0}, {4, 2, 3}, {2, 1, 4}};

void run(const char *restrict cipher, const char *restrict crib, uchar *restrict score, uint *restrict best,
         int length, int settings) {
    // a rotor at a position is one table there and one back
    static uchar there[5][26][26], back[5][26][26];
    for (int r = 0; r < 5; r++)
        for (int p = 0; p < 26; p++)
            for (int c = 0; c < 26; c++) {
                int to = (wiring[r][(c + p) % 26] - 'A' - p + 26) % 26;
                there[r][p][c] = to, back[r][p][to] = c;
            }
    uint most = *best;
    for (int id = 0; id < settings; id++) {
        const uchar *order = orders[id / 17576];
        int rest = id % 17576, a = rest / 676, b = rest / 26 % 26, c = rest % 26, hits = 0, misses = 0;
        int notch_b = notches[order[1]] - 'A', notch_c = notches[order[2]] - 'A';
        for (int k = 0; k < length; k++) {
            int middle = b == notch_b;
            if (middle)
                a = a == 25 ? 0 : a + 1;
            if (middle || c == notch_c)
                b = b == 25 ? 0 : b + 1;
            c = c == 25 ? 0 : c + 1;
            int x = there[order[0]][a][there[order[1]][b][there[order[2]][c][cipher[k] - 'A']]];
            x = reflector[x] - 'A';
            x = back[order[2]][c][back[order[1]][b][back[order[0]][a][x]]];
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
