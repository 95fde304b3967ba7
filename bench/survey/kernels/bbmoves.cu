// Counts the legal moves of chess positions (no castling) by bit boards: lines by o ^ (o - 2r), tables made at compile
// time; a thread for each position, which tries each move for whether its king could be taken.
typedef unsigned long long u64;

enum Piece { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING };

struct Tables {
    u64 knight[64], king[64], line[4][64];

    constexpr Tables() : knight(), king(), line() {
        for (int s = 0; s < 64; s++) {
            int x = s & 7, y = s >> 3;
            for (int t = 0; t < 64; t++) {
                int dx = (t & 7) - x, dy = (t >> 3) - y;
                if (t == s)
                    continue;
                if (dx * dx + dy * dy == 5)
                    knight[s] |= 1ull << t;
                if (dx * dx <= 1 && dy * dy <= 1)
                    king[s] |= 1ull << t;
                if (dy == 0)
                    line[0][s] |= 1ull << t;
                if (dx == 0)
                    line[1][s] |= 1ull << t;
                if (dx == dy)
                    line[2][s] |= 1ull << t;
                if (dx == -dy)
                    line[3][s] |= 1ull << t;
            }
        }
    }
};

__constant__ constexpr Tables tables;
constexpr u64 FILE_A = 0x0101010101010101ull, FILE_H = FILE_A << 7, RANK_1 = 0xff, RANK_3 = RANK_1 << 16,
              RANK_8 = RANK_1 << 56;

struct Position {
    u64 piece[6], white;
    unsigned int black_to_move : 1, en_passant : 7, clock : 8;  // en_passant: a square + 1, or 0
    unsigned int number;
};

struct Board {
    u64 own[6], foe[6], ours, theirs;
    u64 en_passant;
};

__device__ __forceinline__ u64 flip(u64 b) {
    unsigned int low = (unsigned int)b, high = (unsigned int)(b >> 32);
    return (u64)__byte_perm(low, 0, 0x0123) << 32 | __byte_perm(high, 0, 0x0123);
}

__device__ Board seen_by_mover(const Position &p) {
    Board b;
    b.ours = b.theirs = 0;
    for (int k = 0; k < 6; k++) {
        u64 white = p.piece[k] & p.white, black = p.piece[k] & ~p.white;
        b.own[k] = p.black_to_move ? flip(black) : white;
        b.foe[k] = p.black_to_move ? flip(white) : black;
        b.ours |= b.own[k];
        b.theirs |= b.foe[k];
    }
    int square = (int)p.en_passant - 1;
    b.en_passant = square < 0 ? 0 : 1ull << (p.black_to_move ? square ^ 56 : square);
    return b;
}

__device__ __forceinline__ u64 along(int which, int square, u64 occupied) {
    u64 mask = tables.line[which][square], o = occupied & mask, r = 1ull << square;
    return ((o - 2 * r) ^ __brevll(__brevll(o) - 2 * __brevll(r))) & mask;
}

__device__ u64 attacks(int kind, int square, u64 occupied) {
    switch (kind) {
    case KNIGHT:
        return tables.knight[square];
    case BISHOP:
        return along(2, square, occupied) | along(3, square, occupied);
    case ROOK:
        return along(0, square, occupied) | along(1, square, occupied);
    case QUEEN:
        return along(0, square, occupied) | along(1, square, occupied) | along(2, square, occupied) |
               along(3, square, occupied);
    case KING:
        return tables.king[square];
    }
    return 0;
}

__device__ bool attacked(const Board &b, int square, u64 occupied, u64 alive) {
    u64 at = 1ull << square;
    if (tables.knight[square] & b.foe[KNIGHT] & alive)
        return true;
    if (((at << 7 & ~FILE_H) | (at << 9 & ~FILE_A)) & b.foe[PAWN] & alive)
        return true;
    if (tables.king[square] & b.foe[KING] & alive)
        return true;
    u64 straight = (b.foe[ROOK] | b.foe[QUEEN]) & alive, diagonal = (b.foe[BISHOP] | b.foe[QUEEN]) & alive;
    if (straight && (attacks(ROOK, square, occupied) & straight))
        return true;
    return diagonal && (attacks(BISHOP, square, occupied) & diagonal);
}

struct Counter {
    const Board &b;
    int king;
    int4 counts;  // moves, captures, promotions, whether in check

    __device__ void attempt(int from, int to, bool is_king, u64 victim) {
        u64 source = 1ull << from, target = 1ull << to;
        u64 occupied = ((b.ours | b.theirs) & ~(source | victim)) | target;
        if (attacked(b, is_king ? to : king, occupied, ~(target | victim)))
            return;
        bool promotes = (source & b.own[PAWN]) && (target & RANK_8);
        int ways = promotes ? 4 : 1;
        counts.x += ways;
        counts.z += promotes ? ways : 0;
        if ((target & b.theirs) | victim)
            counts.y += ways;
    }

    __device__ void pawns(u64 targets, int step, bool en_passant) {
        while (targets) {
            int to = __ffsll(targets) - 1;
            targets &= targets - 1;
            attempt(to - step, to, false, en_passant ? 1ull << (to - 8) : 0);
        }
    }
};

extern "C" __global__ void bbmoves(const Position *positions, int4 *result, int n) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n)
        return;
    Board b = seen_by_mover(positions[id]);
    u64 occupied = b.ours | b.theirs, empty = ~occupied;
    Counter c = {b, __ffsll(b.own[KING]) - 1, make_int4(0, 0, 0, 0)};
    c.counts.w = attacked(b, c.king, occupied, ~0ull);

    u64 pawns = b.own[PAWN], one = pawns << 8 & empty;
    c.pawns(one, 8, false);
    c.pawns((one & RANK_3) << 8 & empty, 16, false);
    u64 left = pawns << 7 & ~FILE_H, right = pawns << 9 & ~FILE_A;
    c.pawns(left & b.theirs, 7, false);
    c.pawns(right & b.theirs, 9, false);
    if (b.en_passant) {
        c.pawns(left & b.en_passant, 7, true);
        c.pawns(right & b.en_passant, 9, true);
    }
    for (int kind = KNIGHT; kind <= KING; kind++)
        for (u64 pieces = b.own[kind]; pieces; pieces &= pieces - 1) {
            int from = __ffsll(pieces) - 1;
            for (u64 to = attacks(kind, from, occupied) & ~b.ours; to; to &= to - 1)
                c.attempt(from, __ffsll(to) - 1, kind == KING, 0);
        }
    result[id] = c.counts;
}
