#include "native.h"

typedef struct {
    int wins, losses, pushes, busts;
} Tally;

typedef struct {
    int total, aces;
} Hand;

static inline int value(Hand h) {
    return h.total + (h.aces && h.total <= 11 ? 10 : 0);
}

void run(Tally *restrict tallies, int players, int strategies, int hands, uint seed) {
    uchar points[52];
    for (int i = 0; i < 52; i++)
        points[i] = MIN(i % 13 + 1, 10);
#define ADD(hand) (hand.total += deck[next], hand.aces += deck[next++] == 1)
    for (int idx = 0; idx < players * strategies; idx++) {
        int stand = 12 + idx / players;
        uint s = seed + idx;
        s = (s ^ 61) ^ (s >> 16), s *= 9, s ^= s >> 4, s *= 0x27d4eb2d, s ^= s >> 15, s |= 1;
        uchar deck[52];
        memcpy(deck, points, 52);
        Tally *mine = tallies + idx / players;
        for (int h = 0; h < hands; h++) {
            for (int i = 51; i > 0; i--) {
                s ^= s << 13, s ^= s >> 17, s ^= s << 5;
                int j = s % (i + 1);
                uchar swap = deck[i];
                deck[i] = deck[j], deck[j] = swap;
            }
            int next = 0;
            Hand player = {0}, dealer = {0};
            ADD(player), ADD(dealer), ADD(player), ADD(dealer);
            while (value(player) < stand)
                ADD(player);
            int p = value(player);
            if (p > 21) {
                mine->busts++, mine->losses++;
                continue;
            }
            while (value(dealer) < 17 || (value(dealer) == 17 && dealer.total == 7))
                ADD(dealer);
            int d = value(dealer);
            mine->wins += d > 21 || p > d;
            mine->losses += d <= 21 && p < d;
            mine->pushes += p == d;
        }
    }
}
