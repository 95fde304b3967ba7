#include "native.h"

typedef long long i64;

static inline i64 unzigzag(ull v) {
    return (i64)(v >> 1) ^ -(i64)(v & 1);
}

static inline int width_of(int code) {
    static const uchar WIDE[8] = {26, 28, 30, 32, 40, 48, 56, 64};
    return code <= 23 ? code + 1 : WIDE[code - 24];
}

static inline ull big_endian(const uchar *p, int bytes) {
    ull v = 0;
    for (int i = 0; i < bytes; i++)
        v = v << 8 | p[i];
    return v;
}

static inline ull mask(int width) {
    return width == 64 ? ~0ull : (1ull << width) - 1;
}

// There are 16 bytes after the last.
static inline ull unpack(const uchar *p, ull bit, int width) {
    ull v;
    p += bit >> 3;
    memcpy(&v, p, 8);
    v = __builtin_bswap64(v);
    int skip = bit & 7;
    if (skip + width <= 64)
        return v << skip >> (64 - width);
    int more = skip + width - 64;
    return ((v << more) & mask(width)) | p[8] >> (8 - more);
}

static inline ull varint(const uchar **p) {
    ull v = 0;
    for (int shift = 0;; shift += 7) {
        uchar b = *(*p)++;
        v |= (ull)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
}

void run(const uchar *restrict bytes, const ull *restrict stripe_start, const ull *restrict row_start,
         i64 *restrict out, int stripes) {
    for (int s = 0; s < stripes; s++) {
        const uchar *p = bytes + stripe_start[s], *end = bytes + stripe_start[s + 1];
        i64 *to = out + row_start[s];
        while (p < end) {
            int head = *p, kind = head >> 6;
            if (kind == 0) {
                int size = ((head >> 3) & 7) + 1, count = (head & 7) + 3;
                i64 value = unzigzag(big_endian(p + 1, size));
                for (int i = 0; i < count; i++)
                    to[i] = value;
                p += 1 + size;
                to += count;
                continue;
            }
            int code = (head >> 1) & 31, count = ((head & 1) << 8 | p[1]) + 1, width = width_of(code);
            if (kind == 1) {
                for (int i = 0; i < count; i++)
                    to[i] = unzigzag(unpack(p + 2, (ull)i * width, width));
                p += 2 + (count * width + 7) / 8;
            } else if (kind == 2) {
                int base_bytes = ((p[2] >> 5) & 7) + 1, patch_width = width_of(p[2] & 31);
                int gap_width = ((p[3] >> 5) & 7) + 1, patches = p[3] & 31, entry = patch_width + gap_width;
                ull raw = big_endian(p + 4, base_bytes), top = 1ull << (base_bytes * 8 - 1);
                i64 base = raw & top ? -(i64)(raw & ~top) : (i64)raw;
                const uchar *data = p + 4 + base_bytes, *patch = data + (count * width + 7) / 8;
                for (int i = 0; i < count; i++)
                    to[i] = base + (i64)unpack(data, (ull)i * width, width);
                for (int k = 0, at = 0; k < patches; k++) {
                    ull v = unpack(patch, (ull)k * entry, entry);
                    at += v >> patch_width;
                    to[at] += (v & mask(patch_width)) << width;
                }
                p = patch + (patches * entry + 7) / 8;
            } else {
                p += 2;
                i64 first = unzigzag(varint(&p)), step = unzigzag(varint(&p));
                if (code == 0) {
                    for (int i = 0; i < count; i++)
                        to[i] = first + i * step;
                } else {
                    i64 sum = first + step;
                    to[0] = first;
                    to[1] = sum;
                    for (int i = 0; i < count - 2; i++) {
                        i64 d = unpack(p, (ull)i * width, width);
                        sum += step < 0 ? -d : d;
                        to[i + 2] = sum;
                    }
                    p += ((count - 2) * width + 7) / 8;
                }
            }
            to += count;
        }
    }
}
