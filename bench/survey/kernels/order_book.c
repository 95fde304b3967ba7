#include "native.h"

#define LEVELS 256
#define WORDS (LEVELS / 64)
#define NIL 0xffff

typedef unsigned short ushort;

typedef struct {
    uchar kind;  // 0 limit, 1 market, 2 cancel
    uchar side;  // 0 buy, 1 sell
    ushort price;
    ushort quantity;
    ushort target;  // a cancel's order: the number of its message
} Message;

typedef struct {
    ushort quantity, next, prev;
    ushort level;  // side in the top bit
} Order;

typedef struct {
    ushort head, tail;
    int total;
} Level;

typedef struct {
    Level levels[2][LEVELS];
    ull used[2][WORDS];
} Book;

typedef struct {
    long long notional;
    int volume, trades, best_bid, best_ask;
} Stats;

static inline int best_level(const ull *used, int side) {
    if (side == 0) {
        for (int w = WORDS - 1; w >= 0; w--)
            if (used[w])
                return w * 64 + 63 - __builtin_clzll(used[w]);
    } else {
        for (int w = 0; w < WORDS; w++)
            if (used[w])
                return w * 64 + __builtin_ffsll(used[w]) - 1;
    }
    return -1;
}

static inline void drop(Book *restrict book, Order *orders, int id) {
    Order *o = orders + id;
    int side = o->level >> 15, price = o->level & 0x7fff;
    Level *level = &book->levels[side][price];
    if (o->prev == NIL)
        level->head = o->next;
    else
        orders[o->prev].next = o->next;
    if (o->next == NIL)
        level->tail = o->prev;
    else
        orders[o->next].prev = o->prev;
    level->total -= o->quantity;
    o->quantity = 0;
    if (level->head == NIL)
        book->used[side][price >> 6] &= ~(1ULL << (price & 63));
}

void run(const Message *restrict all, Book *restrict books, Order *restrict pool, Stats *restrict stats, int symbols,
         int count) {
    for (int s = 0; s < symbols; s++) {
        Book *restrict book = books + s;
        Order *restrict orders = pool + (size_t)s * count;
        const Message *restrict messages = all + (size_t)s * count;
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < LEVELS; i++)
                book->levels[side][i] = (Level){NIL, NIL, 0};
            for (int w = 0; w < WORDS; w++)
                book->used[side][w] = 0;
        }
        Stats mine = {0, 0, 0, -1, -1};
        for (int m = 0; m < count; m++) {
            const Message message = messages[m];
            if (message.kind == 2) {
                if (message.target < m && messages[message.target].kind == 0 && orders[message.target].quantity > 0)
                    drop(book, orders, message.target);
                continue;
            }
            int left = message.quantity;
            const int other = message.side ^ 1;
            while (left > 0) {
                int price = best_level(book->used[other], other);
                if (price < 0)
                    break;
                if (message.kind == 0 && (message.side == 0 ? price > message.price : price < message.price))
                    break;
                int id = book->levels[other][price].head;
                int traded = MIN(left, (int)orders[id].quantity);
                left -= traded;
                mine.volume += traded;
                mine.notional += (long long)traded * price;
                mine.trades++;
                if (traded == orders[id].quantity) {
                    drop(book, orders, id);
                } else {
                    orders[id].quantity -= traded;
                    book->levels[other][price].total -= traded;
                }
            }
            Order rest = {0, NIL, NIL, (ushort)(message.side << 15 | message.price)};
            if (message.kind == 0 && left > 0) {
                Level *level = &book->levels[message.side][message.price];
                rest.quantity = (ushort)left;
                rest.prev = level->tail;
                if (level->tail == NIL)
                    level->head = (ushort)m;
                else
                    orders[level->tail].next = (ushort)m;
                level->tail = (ushort)m;
                level->total += left;
                book->used[message.side][message.price >> 6] |= 1ULL << (message.price & 63);
            }
            orders[m] = rest;
        }
        mine.best_bid = best_level(book->used[0], 0);
        mine.best_ask = best_level(book->used[1], 1);
        stats[s] = mine;
    }
}
