// Hold'em by trial: a thread deals many boards and an opponent's hand to one pair of cards; wins, ties, and what
// hands there were.
struct Card {
    unsigned char rank, suit;
};

struct Rng {
    unsigned long long state;
    __device__ unsigned int below(unsigned int n) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (unsigned int)(state >> 33) % n;
    }
};

enum Kind { HIGH, PAIR, TWO_PAIRS, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH };

__device__ int straight(const int *has) {
    int run = 0;
    for (int r = 12; r >= 0; r--) {
        if (has[r])
            run++;
        else
            run = 0;
        if (run == 5)
            return r + 4;
    }
    return run == 4 && has[12] ? 3 : -1; // ace to five
}

__device__ int score(const Card *cards) {
    int ranks[13] = {0}, suits[4] = {0};
    for (int i = 0; i < 7; i++) {
        ranks[cards[i].rank]++;
        suits[cards[i].suit]++;
    }
    for (int s = 0; s < 4; s++) {
        if (suits[s] < 5)
            continue;
        int own[13] = {0};
        for (int i = 0; i < 7; i++)
            if (cards[i].suit == s)
                own[cards[i].rank]++;
        int top = straight(own);
        if (top >= 0)
            return STRAIGHT_FLUSH << 20 | top << 16;
        int value = FLUSH, taken = 0;
        for (int r = 12; r >= 0 && taken < 5; r--)
            if (own[r]) {
                value = value << 4 | r;
                taken++;
            }
        return value;
    }
    int four = -1, three = -1, pair = -1, second = -1;
    for (int r = 12; r >= 0; r--) {
        switch (ranks[r]) {
        case 4:
            four = r;
            break;
        case 3:
            if (three < 0)
                three = r;
            else if (pair < 0)
                pair = r;
            break;
        case 2:
            if (pair < 0)
                pair = r;
            else if (second < 0)
                second = r;
            break;
        }
    }
    int kind, kickers, value;
    int skip[2] = {-1, -1};
    int top = straight(ranks);
    if (four >= 0) {
        kind = FOUR, skip[0] = four, kickers = 1;
    } else if (three >= 0 && pair >= 0) {
        return FULL_HOUSE << 20 | three << 16 | pair << 12;
    } else if (top >= 0) {
        return STRAIGHT << 20 | top << 16;
    } else if (three >= 0) {
        kind = THREE, skip[0] = three, kickers = 2;
    } else if (second >= 0) {
        kind = TWO_PAIRS, skip[0] = pair, skip[1] = second, kickers = 1;
    } else if (pair >= 0) {
        kind = PAIR, skip[0] = pair, kickers = 3;
    } else {
        kind = HIGH, kickers = 5;
    }
    value = kind;
    int digits = 0;
    for (int k = 0; k < 2; k++)
        if (skip[k] >= 0) {
            value = value << 4 | skip[k];
            digits++;
        }
    for (int r = 12; r >= 0 && kickers > 0; r--)
        if (ranks[r] && r != skip[0] && r != skip[1]) {
            value = value << 4 | r;
            kickers--;
            digits++;
        }
    while (digits++ < 5)
        value <<= 4;
    return value;
}

extern "C" __global__ void poker(const Card *hands, int *wins, int *ties, int *kinds, int num_hands, int trials,
                                 unsigned long long seed) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= num_hands)
        return;
    Rng rng = {seed + 977ULL * id};
    Card mine[7], theirs[7], deck[50];
    mine[0] = hands[2 * id];
    mine[1] = hands[2 * id + 1];
    int n = 0;
    for (int s = 0; s < 4; s++)
        for (int r = 0; r < 13; r++) {
            bool taken = false;
            for (int k = 0; k < 2; k++)
                if (mine[k].rank == r && mine[k].suit == s)
                    taken = true;
            if (!taken)
                deck[n++] = {(unsigned char)r, (unsigned char)s};
        }
    int won = 0, tied = 0;
    for (int t = 0; t < trials; t++) {
        for (int k = 0; k < 7; k++) {
            int other = k + rng.below(n - k);
            Card c = deck[k];
            deck[k] = deck[other];
            deck[other] = c;
        }
        for (int k = 0; k < 5; k++)
            mine[2 + k] = theirs[2 + k] = deck[k];
        theirs[0] = deck[5];
        theirs[1] = deck[6];
        int a = score(mine), b = score(theirs);
        if (a > b)
            won++;
        else if (a == b)
            tied++;
        atomicAdd(&kinds[a >> 20], 1);
    }
    wins[id] = won;
    ties[id] = tied;
}
