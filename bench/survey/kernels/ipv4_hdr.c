// A router's fast path over packets in one buffer: headers of IPv4 checked, filtered, and passed on.
#include "native.h"

enum { FORWARD, SHORT, VERSION, CHECKSUM, EXPIRED, SPOOFED, FILTERED };

typedef struct {
    uint network, mask;
    unsigned short low, high;
    uchar protocol, allows, pad[2];
} rule;

static inline uint folded(uint sum) {
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

static int handle(uchar *restrict p, int size, const rule *restrict rules, int count) {
    int words = p[0] & 15;
    if (size < 20 || words < 5 || size < 4 * words || (p[2] << 8 | p[3]) > size)
        return SHORT;
    if (p[0] >> 4 != 4)
        return VERSION;
    uint sum = 0;
    for (int i = 0; i < words; i++) {
        uint w;
        memcpy(&w, p + 4 * i, 4);
        sum += (w & 0xffff) + (w >> 16);
    }
    if (folded(sum) != 0xffff)
        return CHECKSUM;
    if (p[8] <= 1)
        return EXPIRED;
    if (p[12] == 0 || p[12] == 127 || (p[12] == 169 && p[13] == 254) || p[12] >= 224)
        return SPOOFED;
    int protocol = p[9], port = -1;
    if ((protocol == 6 || protocol == 17) && ((p[6] << 8 | p[7]) & 0x1fff) == 0 && size >= 4 * words + 4)
        port = p[4 * words + 2] << 8 | p[4 * words + 3];
    uint target = (uint)p[16] << 24 | p[17] << 16 | p[18] << 8 | p[19];
    int i = 0;
    for (; i < count; i++) {
        const rule *r = rules + i;
        if ((target & r->mask) == r->network && (!r->protocol || r->protocol == protocol) &&
            (!r->high || (port >= r->low && port <= r->high)))
            break;
    }
    if (i == count || !rules[i].allows)
        return FILTERED;
    unsigned short was, is, check;
    memcpy(&was, p + 8, 2);
    p[8]--;
    memcpy(&is, p + 8, 2);
    memcpy(&check, p + 10, 2);
    check = ~folded((unsigned short)~check + (unsigned short)~was + (uint)is);
    memcpy(p + 10, &check, 2);
    return FORWARD;
}

void run(uchar *restrict packets, const int *restrict start, const rule *restrict rules, uchar *restrict verdicts,
         uint *restrict counts, int n, int rule_count) {
    for (int i = 0; i < n; i++)
        counts[verdicts[i] = handle(packets + start[i], start[i + 1] - start[i], rules, rule_count)]++;
}
