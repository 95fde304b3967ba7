// Hold'em by trial: ranks and suits as sets of bits.
#include "native.h"
enum { HIGH, PAIR, TWO_PAIRS, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH };

static int top_bit(uint x) {
    return 31 - __builtin_clz(x);
}

static int straight(uint has) {
    uint with_low = has << 1 | has >> 12, run = with_low & with_low >> 1;
    run &= run >> 2;
    run &= with_low >> 4;
    return run ? top_bit(run) + 3 : -1;
}

static int with_kickers(int value, int digits, uint rest, int kickers) {
    for (; kickers; kickers--, digits++) {
        int r = top_bit(rest);
        value = value << 4 | r;
        rest ^= 1u << r;
    }
    return value << 4 * (5 - digits);
}

static int score(const uint *suits) {
    for (int s = 0; s < 4; s++)
        if (__builtin_popcount(suits[s]) >= 5) {
            int top = straight(suits[s]);
            return top >= 0 ? STRAIGHT_FLUSH << 20 | top << 16 : with_kickers(FLUSH, 0, suits[s], 5);
        }
    uint a = suits[0], b = suits[1], c = suits[2], d = suits[3], any = a | b | c | d, four = a & b & c & d;
    uint odd = a ^ b ^ c ^ d, two_or_more = (a & b) | (c & d) | ((a | b) & (c | d));
    uint threes = two_or_more & odd, pairs = two_or_more & ~odd & ~four;
    if (four) {
        int r = top_bit(four);
        return with_kickers(FOUR << 4 | r, 1, any & ~four, 1);
    }
    int three = threes ? top_bit(threes) : -1;
    uint others = threes ? pairs | (threes ^ 1u << three) : pairs;
    if (three >= 0 && others)
        return FULL_HOUSE << 20 | three << 16 | top_bit(others) << 12;
    int top = straight(any);
    if (top >= 0)
        return STRAIGHT << 20 | top << 16;
    if (three >= 0)
        return with_kickers(THREE << 4 | three, 1, any & ~threes, 2);
    if (!pairs)
        return with_kickers(HIGH, 0, any, 5);
    int pair = top_bit(pairs);
    any ^= 1u << pair, pairs ^= 1u << pair;
    if (!pairs)
        return with_kickers(PAIR << 4 | pair, 1, any, 3);
    int second = top_bit(pairs);
    return with_kickers((TWO_PAIRS << 4 | pair) << 4 | second, 2, any ^ 1u << second, 1);
}

void run(const uchar *restrict hands, int *restrict wins, int *restrict ties, int *restrict kinds, int num_hands,
         int trials, ull seed) {
    for (int id = 0; id < num_hands; id++) {
        const uchar *hand = hands + 4 * id;
        uchar deck[52];
        int n = 0, won = 0, tied = 0, skip_a = hand[1] * 13 + hand[0], skip_b = hand[3] * 13 + hand[2];
        for (int card = 0; card < 52; card++)
            if (card != skip_a && card != skip_b)
                deck[n++] = (card / 13) << 4 | card % 13;
        ull state = seed + 977ull * id;
        for (int t = 0; t < trials; t++) {
            uint mine[4] = {0}, theirs[4];
            for (int k = 0; k < 7; k++) {
                state = state * 6364136223846793005ull + 1442695040888963407ull;
                int other = k + (uint)(state >> 33) % (n - k);
                uchar c = deck[k];
                deck[k] = deck[other], deck[other] = c;
            }
            for (int k = 0; k < 5; k++)
                mine[deck[k] >> 4] |= 1u << (deck[k] & 15);
            memcpy(theirs, mine, sizeof mine);
            mine[hand[1]] |= 1u << hand[0], mine[hand[3]] |= 1u << hand[2];
            theirs[deck[5] >> 4] |= 1u << (deck[5] & 15), theirs[deck[6] >> 4] |= 1u << (deck[6] & 15);
            int a = score(mine), b = score(theirs);
            won += a > b, tied += a == b;
            kinds[a >> 20]++;
        }
        wins[id] = won, ties[id] = tied;
    }
}
