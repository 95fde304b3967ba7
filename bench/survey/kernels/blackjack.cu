// Blackjack: how often one wins who stands on 12, 13 ... 19; each thread plays hands with a shuffled deck of its own.
__device__ unsigned int wang_hash(unsigned int seed) {
    seed = (seed ^ 61) ^ (seed >> 16);
    seed *= 9;
    seed = seed ^ (seed >> 4);
    seed *= 0x27d4eb2d;
    seed = seed ^ (seed >> 15);
    return seed;
}

class Rng {
    unsigned int state;

public:
    __device__ explicit Rng(unsigned int seed) : state(wang_hash(seed) | 1) {}
    __device__ unsigned int next() {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    __device__ int below(int n) { return next() % n; }
};

class Hand {
    int total, aces;

public:
    __device__ Hand() : total(0), aces(0) {}
    __device__ void add(int card) {
        int rank = card % 13 + 1;
        if (rank == 1)
            aces++;
        total += rank > 10 ? 10 : rank;
    }
    __device__ bool soft() const { return aces > 0 && total + 10 <= 21; }
    __device__ int value() const { return soft() ? total + 10 : total; }
    __device__ bool bust() const { return value() > 21; }
};

struct Tally {
    int wins, losses, pushes, busts;
};

extern "C" __global__ void blackjack(Tally *tallies, int players, int strategies, int hands, unsigned int seed) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= players * strategies)
        return;
    int strategy = idx / players;
    int stand = 12 + strategy;
    Rng rng(seed + idx);
    unsigned char deck[52];
    for (int i = 0; i < 52; i++)
        deck[i] = i;
    Tally mine = {0, 0, 0, 0};
    for (int h = 0; h < hands; h++) {
        for (int i = 51; i > 0; i--) {
            int j = rng.below(i + 1);
            unsigned char swap = deck[i];
            deck[i] = deck[j];
            deck[j] = swap;
        }
        int next = 0;
        Hand player, dealer;
        player.add(deck[next++]);
        dealer.add(deck[next++]);
        player.add(deck[next++]);
        dealer.add(deck[next++]);
        while (player.value() < stand)
            player.add(deck[next++]);
        if (player.bust()) {
            mine.busts++;
            mine.losses++;
            continue;
        }
        while (dealer.value() < 17 || (dealer.value() == 17 && dealer.soft()))
            dealer.add(deck[next++]);
        if (dealer.bust() || player.value() > dealer.value())
            mine.wins++;
        else if (player.value() < dealer.value())
            mine.losses++;
        else
            mine.pushes++;
    }
    atomicAdd(&tallies[strategy].wins, mine.wins);
    atomicAdd(&tallies[strategy].losses, mine.losses);
    atomicAdd(&tallies[strategy].pushes, mine.pushes);
    atomicAdd(&tallies[strategy].busts, mine.busts);
}
