// Runs of ORC files, version 2, for signed integers: short repeats, direct, patched base and delta; a warp reads a
// stripe's run headers, its lanes unpack bits (big endian) and sum deltas by shuffles.
typedef long long i64;
typedef unsigned long long u64;

__device__ __forceinline__ i64 unzigzag(u64 v) {
    return (i64)(v >> 1) ^ -(i64)(v & 1);
}

__device__ __forceinline__ int width_of(int code) {
    if (code <= 23)
        return code + 1;
    switch (code) {
    case 24:
        return 26;
    case 25:
        return 28;
    case 26:
        return 30;
    case 27:
        return 32;
    case 28:
        return 40;
    case 29:
        return 48;
    case 30:
        return 56;
    default:
        return 64;
    }
}

__device__ u64 big_endian(const unsigned char *p, int bytes) {
    u64 v = 0;
    for (int i = 0; i < bytes; i++)
        v = v << 8 | p[i];
    return v;
}

__device__ u64 unpack(const unsigned char *p, u64 bit, int width) {
    u64 v = 0;
    p += bit >> 3;
    int skip = bit & 7, need = width;
    while (need > 0) {
        int have = 8 - skip, take = min(have, need);
        unsigned part = (*p++ >> (have - take)) & ((1u << take) - 1);
        v = v << take | part;
        need -= take;
        skip = 0;
    }
    return v;
}

__device__ u64 varint(const unsigned char *&p) {
    u64 v = 0;
    int shift = 0;
    unsigned char b;
    do {
        b = *p++;
        v |= (u64)(b & 0x7f) << shift;
        shift += 7;
    } while (b & 0x80);
    return v;
}

__device__ __forceinline__ i64 warp_scan(i64 v, int lane) {
    for (int offset = 1; offset < 32; offset <<= 1) {
        i64 other = __shfl_up_sync(0xffffffffu, v, offset);
        if (lane >= offset)
            v += other;
    }
    return v;
}

extern "C" __global__ void orc_rle2(const unsigned char *__restrict__ bytes, const u64 *__restrict__ stripe_start,
                                    const u64 *__restrict__ row_start, i64 *__restrict__ out, int stripes) {
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (warp >= stripes)
        return;
    const unsigned char *p = bytes + stripe_start[warp], *end = bytes + stripe_start[warp + 1];
    i64 *to = out + row_start[warp];
    while (p < end) {
        const int head = *p, kind = head >> 6;
        if (kind == 0) {
            int size = ((head >> 3) & 7) + 1, count = (head & 7) + 3;
            i64 value = unzigzag(big_endian(p + 1, size));
            if (lane < count)
                to[lane] = value;
            p += 1 + size;
            to += count;
            continue;
        }
        const int code = (head >> 1) & 31, count = ((head & 1) << 8 | p[1]) + 1;
        if (kind == 1) {
            int width = width_of(code);
            for (int i = lane; i < count; i += 32)
                to[i] = unzigzag(unpack(p + 2, (u64)i * width, width));
            p += 2 + (count * width + 7) / 8;
        } else if (kind == 2) {
            int width = width_of(code), base_bytes = ((p[2] >> 5) & 7) + 1, patch_width = width_of(p[2] & 31);
            int gap_width = ((p[3] >> 5) & 7) + 1, patches = p[3] & 31;
            u64 raw = big_endian(p + 4, base_bytes), top = 1ull << (base_bytes * 8 - 1);
            i64 base = raw & top ? -(i64)(raw & ~top) : (i64)raw;
            const unsigned char *data = p + 4 + base_bytes;
            const unsigned char *patch = data + (count * width + 7) / 8;
            int entry = patch_width + gap_width;
            for (int i = lane; i < count; i += 32)
                to[i] = base + (i64)unpack(data, (u64)i * width, width);
            __syncwarp();
            int place = 0;
            for (int k = 0; k < patches; k += 32) {
                int mine = k + lane;
                u64 v = mine < patches ? unpack(patch, (u64)mine * entry, entry) : 0;
                int gap = (int)(v >> patch_width);
                int at = place + (int)warp_scan(gap, lane);
                if (mine < patches)
                    to[at] += (i64)((v & ((1ull << patch_width) - 1)) << width);
                place = __shfl_sync(0xffffffffu, at, 31);
            }
            p = patch + (patches * entry + 7) / 8;
        } else {
            int width = code ? width_of(code) : 0;
            p += 2;
            i64 first = unzigzag(varint(p)), step = unzigzag(varint(p));
            if (width == 0) {
                for (int i = lane; i < count; i += 32)
                    to[i] = first + i * step;
            } else {
                i64 sum = first + step;
                if (lane == 0) {
                    to[0] = first;
                    to[1] = sum;
                }
                for (int k = 0; k < count - 2; k += 32) {
                    int i = k + lane;
                    i64 d = i < count - 2 ? (i64)unpack(p, (u64)i * width, width) : 0;
                    if (step < 0)
                        d = -d;
                    i64 all = sum + warp_scan(d, lane);
                    if (i < count - 2)
                        to[i + 2] = all;
                    sum = __shfl_sync(0xffffffffu, all, 31);
                }
                p += ((count - 2) * width + 7) / 8;
            }
        }
        to += count;
    }
}
