#include "native.h"
enum { CODES = 1024 };

typedef struct {
    short first_child, next_sibling;
    uchar symbol;
} Entry;

void run(const uchar *restrict text, ushort *restrict codes, int *restrict num_codes, uchar *restrict out,
         int chunk, long long n) {
    Entry dictionary[CODES];
    ushort prefix[CODES];
    uchar symbol[CODES];
    short length[CODES];
    for (int i = 0; i < 256; i++)
        symbol[i] = i, length[i] = 1;
    for (long long begin = 0, id = 0; begin < n; begin += chunk, id++) {
        long long end = MIN(begin + chunk, n);
        ushort *mine = codes + begin;
        for (int i = 0; i < 256; i++)
            dictionary[i] = (Entry){-1, -1, i};
        int used = 256, written = 0, current = text[begin];
        for (long long i = begin + 1; i < end; i++) {
            int c = text[i], child = dictionary[current].first_child;
            while (child >= 0 && dictionary[child].symbol != c)
                child = dictionary[child].next_sibling;
            if (child >= 0) {
                current = child;
                continue;
            }
            mine[written++] = current;
            if (used < CODES) {
                dictionary[used] = (Entry){-1, dictionary[current].first_child, c};
                dictionary[current].first_child = used++;
            }
            current = c;
        }
        mine[written++] = current;
        num_codes[id] = written;

        used = 256;
        uchar *to = out + begin;
        for (int k = 0, before = -1; k < written; k++) {
            int code = mine[k], fresh = code >= used, size = fresh ? length[before] + 1 : length[code];
            int walk = fresh ? before : code;
            for (uchar *last = to + size - 1 - fresh; last > to; walk = prefix[walk])
                *last-- = symbol[walk];
            *to = walk;
            if (fresh)
                to[size - 1] = *to;
            if (before >= 0 && used < CODES) {
                prefix[used] = before, symbol[used] = *to, length[used] = length[before] + 1;
                used++;
            }
            before = code;
            to += size;
        }
    }
}
