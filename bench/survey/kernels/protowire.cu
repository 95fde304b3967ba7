// Messages in the wire format of protocol buffers, one a thread: varints, zigzag, fixed numbers at any address, strings,
// nested messages and packed fields; what is unknown is skipped, what is broken is told.
enum Wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
enum Error { FINE, TRUNCATED, OVERLONG, BAD_WIRE, BAD_TAG };

struct Record {
    unsigned long long id;
    long long balance;
    double total;
    unsigned name_hash, tags;
    int left, right, bottom, top;
    int points, unknown;
    int error, at;
};

class Reader {
    const unsigned char *begin, *p, *end;

  public:
    Error error = FINE;
    __device__ Reader(const unsigned char *from, const unsigned char *to) : begin(from), p(from), end(to) {}
    __device__ bool more() const { return error == FINE && p < end; }
    __device__ int position() const { return (int)(p - begin); }

    __device__ unsigned long long varint() {
        unsigned long long value = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            if (p == end) {
                error = TRUNCATED;
                return 0;
            }
            unsigned char byte = *p++;
            value |= (unsigned long long)(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                return value;
        }
        error = OVERLONG;
        return 0;
    }
    __device__ long long zigzag() {
        unsigned long long v = varint();
        return (long long)(v >> 1) ^ -(long long)(v & 1);
    }
    template <class T> __device__ T fixed() {
        T value = T();
        if (end - p < (long long)sizeof(T)) {
            error = TRUNCATED;
        } else {
            memcpy(&value, p, sizeof(T));
            p += sizeof(T);
        }
        return value;
    }
    __device__ Reader bytes() {
        unsigned long long length = varint();
        if (error == FINE && length > (unsigned long long)(end - p))
            error = TRUNCATED;
        if (error != FINE)
            return Reader(p, p);
        Reader part(p, p + length);
        p += length;
        return part;
    }
    __device__ void skip(int wire) {
        switch (wire) {
        case VARINT: varint(); break;
        case FIXED64: fixed<unsigned long long>(); break;
        case BYTES: bytes(); break;
        case FIXED32: fixed<unsigned>(); break;
        default: error = BAD_WIRE;
        }
    }
    __device__ unsigned hash() const {
        unsigned h = 2166136261u;
        for (const unsigned char *c = p; c < end; c++)
            h = (h ^ *c) * 16777619u;
        return h;
    }
};

__device__ Error read_point(Reader r, Record &record) {
    int x = 0, y = 0;
    while (r.more()) {
        unsigned tag = (unsigned)r.varint();
        if (tag == (1 << 3 | VARINT))
            x = (int)r.zigzag();
        else if (tag == (2 << 3 | VARINT))
            y = (int)r.zigzag();
        else
            r.skip(tag & 7);
    }
    if (r.error == FINE) {
        record.left = min(record.left, x);
        record.right = max(record.right, x);
        record.bottom = min(record.bottom, y);
        record.top = max(record.top, y);
        record.points++;
    }
    return r.error;
}

extern "C" __global__ void protowire(const unsigned char *__restrict__ wire, const unsigned *__restrict__ offsets,
                                     Record *__restrict__ records, int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    Record record = {0, 0, 0.0, 0, 0, 0x7fffffff, (int)0x80000000, 0x7fffffff, (int)0x80000000, 0, 0, 0, 0};
    Reader r(wire + offsets[id], wire + offsets[id + 1]);
    while (r.more()) {
        unsigned long long tag = r.varint();
        if (r.error != FINE)
            break;
        if (tag >> 3 == 0 || tag >> 32) {
            r.error = BAD_TAG;
            break;
        }
        switch ((unsigned)tag) {
        case 1 << 3 | VARINT:
            record.id = r.varint();
            break;
        case 2 << 3 | VARINT:
            record.balance += r.zigzag();
            break;
        case 3 << 3 | FIXED32:
            record.total += r.fixed<float>();
            break;
        case 4 << 3 | BYTES:
            record.name_hash = r.bytes().hash();
            break;
        case 5 << 3 | BYTES: {
            Reader part = r.bytes();
            if (r.error == FINE)
                r.error = read_point(part, record);
            break;
        }
        case 6 << 3 | BYTES: {
            Reader packed = r.bytes();
            while (packed.more())
                record.tags = record.tags * 31 + (unsigned)packed.varint();
            if (packed.error != FINE)
                r.error = packed.error;
            break;
        }
        case 7 << 3 | FIXED64:
            record.total += r.fixed<double>();
            break;
        default:
            record.unknown++;
            r.skip(tag & 7);
        }
    }
    record.error = r.error;
    record.at = r.position();
    records[id] = record;
}
