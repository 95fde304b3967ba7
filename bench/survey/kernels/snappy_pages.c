// Snappy pages; runs that do not overlap are copied by memcpy.
#include "native.h"

typedef struct {
    ull src, dst;
    uint src_len, dst_len;
} Page;

static inline uint read_le(const uchar *p, int bytes) {
    uint v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint)p[i] << (8 * i);
    return v;
}

static int decode(const uchar *restrict cur, const uchar *end, uchar *restrict out, uint expected) {
    uint length = 0, pos = 0;
    for (int shift = 0; cur < end; shift += 7) {
        uchar c = *cur++;
        length |= (uint)(c & 0x7f) << shift;
        if (c < 0x80)
            break;
    }
    if (length != expected)
        return 1;
    while (pos < length) {
        if (cur >= end)
            return 2;
        uint tag = *cur, len = tag >> 2, offset;
        if (!(tag & 3)) {
            int header = 1;
            if (len >= 60) {
                header += len - 59;
                len = read_le(cur + 1, len - 59);
            }
            len++;
            int error = len > end - cur - header ? 3 : 0;
            if (pos + len > length)
                error = 5;
            if (error)
                return error;
            cur += header;
            memcpy(out + pos, cur, len);
            cur += len;
        } else {
            if ((tag & 3) == 1) {
                len = 4 + (len & 7);
                offset = (tag >> 5) << 8 | cur[1];
                cur += 2;
            } else if ((tag & 3) == 2) {
                len++;
                offset = read_le(cur + 1, 2);
                cur += 3;
            } else {
                len++;
                offset = read_le(cur + 1, 4);
                cur += 5;
            }
            if (pos + len > length)
                return 5;
            if (offset == 0 || offset > pos)
                return 4;
            if (offset >= len)
                memcpy(out + pos, out + pos - offset, len);
            else
                for (uint i = 0; i < len; i++)
                    out[pos + i] = out[pos + i - offset];
        }
        pos += len;
    }
    return 0;
}

void run(const uchar *restrict input, uchar *restrict output, const Page *restrict pages, int *restrict status, int n) {
    for (int p = 0; p < n; p++)
        status[p] = decode(input + pages[p].src, input + pages[p].src + pages[p].src_len, output + pages[p].dst,
                           pages[p].dst_len);
}
