// Messages in the wire format of protocol buffers.
#include "native.h"

typedef struct {
    ull id;
    long long balance;
    double total;
    uint name_hash, tags;
    int left, right, bottom, top, points, unknown, error, at;
} Record;

typedef struct {
    const uchar *p, *end;
    int error;
} Reader;

static inline ull varint(Reader *r) {
    const uchar *p = r->p, *end = r->end;
    if (p < end && *p < 0x80) {
        r->p++;
        return *p;
    }
    ull value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (p == end) {
            r->p = p;
            r->error = 1;
            return 0;
        }
        uchar byte = *p++;
        value |= (ull)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            r->p = p;
            return value;
        }
    }
    r->p = p;
    r->error = 2;
    return 0;
}

static inline long long zigzag(Reader *r) {
    ull v = varint(r);
    return (long long)(v >> 1) ^ -(long long)(v & 1);
}

static inline ull fixed(Reader *r, int size) {
    ull value = 0;
    if (r->end - r->p < size)
        r->error = 1;
    else {
        if (size == 8)
            memcpy(&value, r->p, 8);
        else
            memcpy(&value, r->p, 4);
        r->p += size;
    }
    return value;
}

static inline Reader bytes(Reader *r) {
    ull length = varint(r);
    if (!r->error && length > r->end - r->p)
        r->error = 1;
    if (r->error)
        return (Reader){r->p, r->p, 0};
    Reader part = {r->p, r->p + length, 0};
    r->p += length;
    return part;
}

static void skip(Reader *r, int wire) {
    switch (wire) {
    case 0: varint(r); break;
    case 1: fixed(r, 8); break;
    case 2: bytes(r); break;
    case 5: fixed(r, 4); break;
    default: r->error = 3;
    }
}

static int read_point(Reader r, Record *record) {
    int x = 0, y = 0;
    while (!r.error && r.p < r.end) {
        uint tag = varint(&r);
        if (tag == 8)
            x = zigzag(&r);
        else if (tag == 16)
            y = zigzag(&r);
        else
            skip(&r, tag & 7);
    }
    if (!r.error) {
        record->left = MIN(record->left, x);
        record->right = MAX(record->right, x);
        record->bottom = MIN(record->bottom, y);
        record->top = MAX(record->top, y);
        record->points++;
    }
    return r.error;
}

void run(const uchar *restrict wire, const uint *restrict offsets, Record *restrict records, int count) {
    for (int id = 0; id < count; id++) {
        Record record = {.left = INT32_MAX, .right = INT32_MIN, .bottom = INT32_MAX, .top = INT32_MIN};
        Reader r = {wire + offsets[id], wire + offsets[id + 1], 0}, part;
        while (!r.error && r.p < r.end) {
            ull tag = varint(&r), raw;
            if (r.error)
                break;
            if (tag >> 3 == 0 || tag >> 32) {
                r.error = 4;
                break;
            }
            float f;
            double d;
            uint h;
            switch (tag) {
            case 8: record.id = varint(&r); break;
            case 16: record.balance += zigzag(&r); break;
            case 29:
                raw = fixed(&r, 4);
                memcpy(&f, &raw, 4);
                record.total += f;
                break;
            case 34:
                part = bytes(&r);
                h = 2166136261u;
                for (const uchar *c = part.p; c < part.end; c++)
                    h = (h ^ *c) * 16777619u;
                record.name_hash = h;
                break;
            case 42:
                part = bytes(&r);
                if (!r.error)
                    r.error = read_point(part, &record);
                break;
            case 50:
                part = bytes(&r);
                while (!part.error && part.p < part.end)
                    record.tags = record.tags * 31 + (uint)varint(&part);
                if (part.error)
                    r.error = part.error;
                break;
            case 57:
                raw = fixed(&r, 8);
                memcpy(&d, &raw, 8);
                record.total += d;
                break;
            default:
                record.unknown++;
                skip(&r, tag & 7);
            }
        }
        record.error = r.error;
        record.at = r.p - (wire + offsets[id]);
        records[id] = record;
    }
}
