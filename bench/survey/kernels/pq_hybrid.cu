// Columns of pages as Parquet writes them, optional values by a dictionary: definition levels and indices are runs
// of one value and groups of packed bits in turn. A block a page; one thread reads the headers of runs, all decode
// them; levels become words of a mask by ballots, places of values come from a scan.
struct Page {
    int levels, level_bytes, indices, index_bytes, values, first_row;
};

struct Run {
    int count, packed, at;  // `at`: the first byte of packed groups, or the value itself
};

constexpr int THREADS = 128;

__device__ unsigned get_varint(const unsigned char *&p) {
    unsigned v = 0;
    int shift = 0;
    while (true) {
        unsigned char byte = *p++;
        v |= (byte & 0x7fu) << shift;
        if (byte < 0x80)
            return v;
        shift += 7;
    }
}

__device__ Run next_run(const unsigned char *bytes, int &position, int bits) {
    const unsigned char *p = bytes + position;
    unsigned header = get_varint(p);
    Run run;
    run.packed = header & 1;
    if (run.packed) {
        run.count = (header >> 1) * 8;
        run.at = p - bytes;
        p += (header >> 1) * bits;
    } else {
        run.count = header >> 1;
        unsigned v = 0;
        for (int i = 0; i < (bits + 7) / 8; i++)
            v |= (unsigned)*p++ << (8 * i);
        run.at = v;
    }
    position = p - bytes;
    return run;
}

__device__ __forceinline__ unsigned unpack(const unsigned char *bytes, int at, int i, int bits) {
    int bit = i * bits;
    const unsigned char *p = bytes + at + (bit >> 3);
    unsigned word = 0;
    int need = (bit & 7) + bits;
    for (int k = 0; k * 8 < need; k++)
        word |= (unsigned)p[k] << (8 * k);
    return (word >> (bit & 7)) & ((1u << bits) - 1);
}

// `out[i]` of `total` values; all threads call it.
__device__ void decode(const unsigned char *bytes, int bits, int total, int *out) {
    __shared__ Run run;
    __shared__ int position;
    if (threadIdx.x == 0)
        position = 0;
    for (int done = 0; done < total;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            int at = position;
            run = next_run(bytes, at, bits);
            position = at;
        }
        __syncthreads();
        int count = min(run.count, total - done);
        for (int i = threadIdx.x; i < count; i += THREADS)
            out[done + i] = run.packed ? unpack(bytes, run.at, i, bits) : run.at;
        done += count;
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS)
    pq_hybrid(const unsigned char *__restrict__ data, const Page *__restrict__ pages,
              const long long *__restrict__ dictionary, int *level_buffer, int *index_buffer,
              long long *__restrict__ values, unsigned *__restrict__ mask, int *nulls) {
    __shared__ int warp_count[THREADS / 32];
    __shared__ int base;
    Page page = pages[blockIdx.x];
    const unsigned char *index_data = data + page.indices;
    int bits = *index_data++;
    int *levels = level_buffer + page.first_row, *indices = index_buffer + page.first_row;
    decode(data + page.levels, 1, page.values, levels);
    if (threadIdx.x == 0)
        base = 0;
    __syncthreads();
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int valid = 0;
    for (int i = threadIdx.x; i < page.values; i += THREADS)
        valid += levels[i];
    valid = __reduce_add_sync(0xffffffffu, valid);
    if (lane == 0)
        atomicAdd(&base, valid);
    __syncthreads();
    int total = base;
    __syncthreads();
    if (threadIdx.x == 0) {
        base = 0;
        atomicAdd(nulls, page.values - total);
    }
    decode(index_data, bits, total, indices);
    for (int first = 0; first < page.values; first += THREADS) {
        int i = first + threadIdx.x;
        bool set = i < page.values && levels[i];
        unsigned ballot = __ballot_sync(0xffffffffu, set);
        if (lane == 0) {
            warp_count[warp] = __popc(ballot);
            if (i < page.values)
                mask[(page.first_row + i) / 32] = ballot;
        }
        __syncthreads();
        int place = base + __popc(ballot & ((1u << lane) - 1));
        for (int w = 0; w < warp; w++)
            place += warp_count[w];
        if (i < page.values)
            values[page.first_row + i] = set ? dictionary[indices[place]] : 0;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int w = 0; w < THREADS / 32; w++)
                base += warp_count[w];
        __syncthreads();
    }
}
