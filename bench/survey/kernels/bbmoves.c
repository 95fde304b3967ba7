#include "native.h"

enum { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING };
static const ull FILE_A = 0x0101010101010101ull, FILE_H = 0x8080808080808080ull;

typedef struct {
    ull piece[6], white;
    uint black_to_move : 1, en_passant : 7, clock : 8;
    uint number;
} Position;

typedef struct {
    ull own[6], foe[6], ours, theirs;
    int king, counts[4];
} Board;

static ull knight[64], kings[64], line[3][64];  // file, both diagonals
static uchar rank_attacks[64][8];               // by the six inner squares, by the place

static void prepare(void) {
    for (int s = 0; s < 64; s++)
        for (int t = 0; t < 64; t++) {
            int dx = (t & 7) - (s & 7), dy = (t >> 3) - (s >> 3);
            ull bit = s == t ? 0 : 1ull << t;
            knight[s] |= dx * dx + dy * dy == 5 ? bit : 0;
            kings[s] |= dx * dx <= 1 && dy * dy <= 1 ? bit : 0;
            line[0][s] |= dx == 0 ? bit : 0;
            line[1][s] |= dx == dy ? bit : 0;
            line[2][s] |= dx == -dy ? bit : 0;
        }
    for (int o = 0; o < 64; o++)
        for (int x = 0; x < 8; x++) {
            uint made = 0;
            for (int k = x + 1; k < 8; k++) {
                made |= 1u << k;
                if (o << 1 >> k & 1)
                    break;
            }
            for (int k = x - 1; k >= 0; k--) {
                made |= 1u << k;
                if (o << 1 >> k & 1)
                    break;
            }
            rank_attacks[o][x] = made;
        }
}

static inline ull along(int which, int s, ull occupied) {  // one square a rank, so turning the bytes is enough
    ull mask = line[which][s], o = occupied & mask, r = 1ull << s;
    return ((o - 2 * r) ^ __builtin_bswap64(__builtin_bswap64(o) - 2 * __builtin_bswap64(r))) & mask;
}

static inline ull rook(int s, ull occupied) {
    return along(0, s, occupied) | (ull)rank_attacks[occupied >> ((s & 56) + 1) & 63][s & 7] << (s & 56);
}

static inline ull bishop(int s, ull occupied) {
    return along(1, s, occupied) | along(2, s, occupied);
}

static inline int attacked(const Board *b, int s, ull occupied, ull alive) {
    ull at = 1ull << s, pawn = (at << 7 & ~FILE_H) | (at << 9 & ~FILE_A);
    if (((knight[s] & b->foe[KNIGHT]) | (pawn & b->foe[PAWN]) | (kings[s] & b->foe[KING])) & alive)
        return 1;
    ull straight = (b->foe[ROOK] | b->foe[QUEEN]) & alive, diagonal = (b->foe[BISHOP] | b->foe[QUEEN]) & alive;
    return (straight && rook(s, occupied) & straight) || (diagonal && bishop(s, occupied) & diagonal);
}

static inline void attempt(Board *b, int from, int to, int is_king, ull victim) {
    ull source = 1ull << from, target = 1ull << to;
    ull occupied = ((b->ours | b->theirs) & ~(source | victim)) | target;
    if (attacked(b, is_king ? to : b->king, occupied, ~(target | victim)))
        return;
    int promotes = source & b->own[PAWN] && to >= 56, ways = promotes ? 4 : 1;
    b->counts[0] += ways;
    b->counts[1] += (target & b->theirs) | victim ? ways : 0;
    b->counts[2] += promotes ? ways : 0;
}

static void pawn_moves(Board *b, ull targets, int step, int en_passant) {
    for (; targets; targets &= targets - 1) {
        int to = __builtin_ctzll(targets);
        attempt(b, to - step, to, 0, en_passant ? 1ull << (to - 8) : 0);
    }
}

static void pieces(Board *b, int kind, ull occupied) {
    for (ull from = b->own[kind]; from; from &= from - 1) {
        int s = __builtin_ctzll(from);
        ull to = kind == KNIGHT ? knight[s] : kind == KING ? kings[s] : 0;
        if (kind == BISHOP || kind == QUEEN)
            to |= bishop(s, occupied);
        if (kind == ROOK || kind == QUEEN)
            to |= rook(s, occupied);
        for (to &= ~b->ours; to; to &= to - 1)
            attempt(b, s, __builtin_ctzll(to), kind == KING, 0);
    }
}

void run(const Position *restrict positions, int *restrict result, int n) {
    if (!knight[0])
        prepare();
    for (int id = 0; id < n; id++) {
        const Position *p = positions + id;
        Board b = {0};
        for (int k = 0; k < 6; k++) {
            ull white = p->piece[k] & p->white, black = p->piece[k] & ~p->white;
            b.own[k] = p->black_to_move ? __builtin_bswap64(black) : white;
            b.foe[k] = p->black_to_move ? __builtin_bswap64(white) : black;
            b.ours |= b.own[k];
            b.theirs |= b.foe[k];
        }
        int square = (int)p->en_passant - 1;
        ull passed = square < 0 ? 0 : 1ull << (p->black_to_move ? square ^ 56 : square);
        b.king = __builtin_ctzll(b.own[KING]);
        ull occupied = b.ours | b.theirs, pawns = b.own[PAWN], one = pawns << 8 & ~occupied;
        ull left = pawns << 7 & ~FILE_H, right = pawns << 9 & ~FILE_A;
        b.counts[3] = attacked(&b, b.king, occupied, ~0ull);
        pawn_moves(&b, one, 8, 0);
        pawn_moves(&b, (one & 0xff0000) << 8 & ~occupied, 16, 0);
        pawn_moves(&b, left & b.theirs, 7, 0);
        pawn_moves(&b, right & b.theirs, 9, 0);
        pawn_moves(&b, left & passed, 7, 1);
        pawn_moves(&b, right & passed, 9, 1);
        for (int kind = KNIGHT; kind <= KING; kind++)
            pieces(&b, kind, occupied);
        memcpy(result + 4 * id, b.counts, sizeof b.counts);
    }
}
