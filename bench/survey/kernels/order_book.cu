// Order books: a thread for each symbol goes through its messages: limit orders that match by price and time and rest
// in queues of levels (lists in a pool), cancels, market orders; bit maps of levels find the best prices.
#define LEVELS 256
#define WORDS (LEVELS / 64)
#define NIL 0xffff

struct Message {
    unsigned char kind;  // 0 limit, 1 market, 2 cancel
    unsigned char side;  // 0 buy, 1 sell
    unsigned short price;
    unsigned short quantity;
    unsigned short target;  // a cancel's order: the number of its message
};

struct Order {
    unsigned short quantity, next, prev;
    unsigned short level;  // side in the top bit
};

struct Level {
    unsigned short head, tail;
    int total;
};

struct Book {
    Level levels[2][LEVELS];
    unsigned long long used[2][WORDS];
};

struct Stats {
    long long notional;
    int volume, trades, best_bid, best_ask;
};

__device__ int best_level(const unsigned long long *used, int side) {
    if (side == 0) {
        for (int w = WORDS - 1; w >= 0; w--)
            if (used[w])
                return w * 64 + 63 - __clzll(used[w]);
    } else {
        for (int w = 0; w < WORDS; w++)
            if (used[w])
                return w * 64 + __ffsll(used[w]) - 1;
    }
    return -1;
}

__device__ void unlink(Book &book, Order *orders, int id) {
    Order &o = orders[id];
    int side = o.level >> 15, price = o.level & 0x7fff;
    Level &level = book.levels[side][price];
    if (o.prev == NIL)
        level.head = o.next;
    else
        orders[o.prev].next = o.next;
    if (o.next == NIL)
        level.tail = o.prev;
    else
        orders[o.next].prev = o.prev;
    level.total -= o.quantity;
    o.quantity = 0;
    if (level.head == NIL)
        book.used[side][price >> 6] &= ~(1ull << (price & 63));
}

extern "C" __global__ void order_book(const Message *__restrict__ messages, Book *books, Order *orders, Stats *stats,
                                      int symbols, int count) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= symbols)
        return;
    Book &book = books[s];
    orders += (size_t)s * count;
    messages += (size_t)s * count;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < LEVELS; i++)
            book.levels[side][i] = {NIL, NIL, 0};
        for (int w = 0; w < WORDS; w++)
            book.used[side][w] = 0;
    }
    Stats mine = {0, 0, 0, -1, -1};
    for (int m = 0; m < count; m++) {
        const Message message = messages[m];
        if (message.kind == 2) {
            if (message.target < m && messages[message.target].kind == 0 && orders[message.target].quantity > 0)
                unlink(book, orders, message.target);
            continue;
        }
        int left = message.quantity;
        const int other = message.side ^ 1;
        while (left > 0) {
            int price = best_level(book.used[other], other);
            if (price < 0)
                break;
            if (message.kind == 0 && (message.side == 0 ? price > message.price : price < message.price))
                break;
            int id = book.levels[other][price].head;
            int traded = min(left, (int)orders[id].quantity);
            left -= traded;
            mine.volume += traded;
            mine.notional += (long long)traded * price;
            mine.trades++;
            if (traded == orders[id].quantity) {
                unlink(book, orders, id);
            } else {
                orders[id].quantity -= traded;
                book.levels[other][price].total -= traded;
            }
        }
        Order rest = {0, NIL, NIL, (unsigned short)(message.side << 15 | message.price)};
        if (message.kind == 0 && left > 0) {
            Level &level = book.levels[message.side][message.price];
            rest.quantity = (unsigned short)left;
            rest.prev = level.tail;
            if (level.tail == NIL)
                level.head = (unsigned short)m;
            else
                orders[level.tail].next = (unsigned short)m;
            level.tail = (unsigned short)m;
            level.total += left;
            book.used[message.side][message.price >> 6] |= 1ull << (message.price & 63);
        }
        orders[m] = rest;
    }
    mine.best_bid = best_level(book.used[0], 0);
    mine.best_ask = best_level(book.used[1], 1);
    stats[s] = mine;
}
