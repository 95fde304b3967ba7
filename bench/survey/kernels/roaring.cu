// Both of two bitmaps in Roaring's form: a block for each pair of containers of 65536 bits, each of which is a sorted
// list, plain bits or runs. Results of up to 4096 members become lists, others bits.
#define THREADS 256
#define WORDS 1024
#define LIST_LIMIT 4096

enum Kind { LIST = 0, BITS = 1, RUNS = 2 };

struct Container {
    unsigned int offset;  // in 16-bit units
    unsigned short kind;
    unsigned short size;  // members of a list or runs; 0 for bits
};

__device__ void set_range(unsigned long long *bits, unsigned int first, unsigned int last) {
    unsigned int from = first >> 6, to = last >> 6;
    unsigned long long head = ~0ull << (first & 63), tail = ~0ull >> (63 - (last & 63));
    if (from == to) {
        atomicOr(&bits[from], head & tail);
        return;
    }
    atomicOr(&bits[from], head);
    for (unsigned int w = from + 1; w < to; w++)
        bits[w] = ~0ull;
    atomicOr(&bits[to], tail);
}

__device__ bool in_list(const unsigned short *list, int size, unsigned short member) {
    int low = 0, high = size;
    while (low < high) {
        int middle = (low + high) / 2;
        if (list[middle] < member)
            low = middle + 1;
        else
            high = middle;
    }
    return low < size && list[low] == member;
}

__device__ bool in_runs(const ushort2 *runs, int size, unsigned short member) {
    int low = 0, high = size;
    while (low < high) {  // the first run that begins after it
        int middle = (low + high) / 2;
        if (runs[middle].x <= member)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && member - runs[low - 1].x <= runs[low - 1].y;
}

__device__ bool contains(const Container &c, const unsigned short *data, unsigned short member) {
    switch (c.kind) {
    case LIST:
        return in_list(data + c.offset, c.size, member);
    case BITS:
        return reinterpret_cast<const unsigned long long *>(data + c.offset)[member >> 6] >> (member & 63) & 1;
    default:
        return in_runs(reinterpret_cast<const ushort2 *>(data + c.offset), c.size, member);
    }
}

// Threads of a block together.
__device__ void expand(const Container &c, const unsigned short *data, unsigned long long *bits) {
    if (c.kind == BITS) {
        const unsigned long long *from = reinterpret_cast<const unsigned long long *>(data + c.offset);
        for (int w = threadIdx.x; w < WORDS; w += THREADS)
            bits[w] = from[w];
    } else {
        const ushort2 *runs = reinterpret_cast<const ushort2 *>(data + c.offset);
        for (int r = threadIdx.x; r < c.size; r += THREADS)
            set_range(bits, runs[r].x, (unsigned int)runs[r].x + runs[r].y);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    roaring_and(const Container *__restrict__ a, const unsigned short *__restrict__ a_data,
                const Container *__restrict__ b, const unsigned short *__restrict__ b_data,
                const int2 *__restrict__ pairs, unsigned long long *result, int *cardinality,
                unsigned long long *total) {
    __shared__ unsigned long long bits[WORDS];
    __shared__ int warp_sums[THREADS / 32];
    Container left = a[pairs[blockIdx.x].x], right = b[pairs[blockIdx.x].y];
    const unsigned short *left_data = a_data, *right_data = b_data;
    if (left.kind != LIST && right.kind == LIST) {
        Container c = left;
        left = right;
        right = c;
        left_data = b_data;
        right_data = a_data;
    }
    for (int w = threadIdx.x; w < WORDS; w += THREADS)
        bits[w] = 0;
    __syncthreads();
    if (left.kind == LIST) {
        for (int i = threadIdx.x; i < left.size; i += THREADS) {
            unsigned short member = left_data[left.offset + i];
            if (contains(right, right_data, member))
                atomicOr(&bits[member >> 6], 1ull << (member & 63));
        }
    } else {
        expand(left, left_data, bits);
        __syncthreads();
        for (int w = threadIdx.x; w < WORDS; w += THREADS) {
            unsigned long long mine = bits[w];
            if (right.kind == BITS) {
                mine &= reinterpret_cast<const unsigned long long *>(right_data + right.offset)[w];
            } else {
                unsigned long long keep = 0;
                const ushort2 *runs = reinterpret_cast<const ushort2 *>(right_data + right.offset);
                int first = w * 64, last = first + 63;
                for (int r = 0; r < right.size; r++) {
                    int begin = max(first, (int)runs[r].x), end = min(last, runs[r].x + runs[r].y);
                    if (begin <= end)
                        keep |= (~0ull << (begin & 63)) & (~0ull >> (63 - (end & 63)));
                    if (runs[r].x > last)
                        break;
                }
                mine &= keep;
            }
            bits[w] = mine;
        }
    }
    __syncthreads();

    // four words side by side each, so that lists are in order
    int mine = 0;
    for (int k = 0; k < WORDS / THREADS; k++)
        mine += __popcll(bits[threadIdx.x * (WORDS / THREADS) + k]);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sum = mine;
    for (int offset = 1; offset < 32; offset *= 2) {
        int other = __shfl_up_sync(0xffffffffu, sum, offset);
        if (lane >= offset)
            sum += other;
    }
    if (lane == 31)
        warp_sums[warp] = sum;
    __syncthreads();
    int all = 0, place = sum - mine;
    for (int k = 0; k < THREADS / 32; k++) {
        if (k < warp)
            place += warp_sums[k];
        all += warp_sums[k];
    }
    unsigned long long *target = result + (size_t)blockIdx.x * WORDS;
    if (all <= LIST_LIMIT) {
        unsigned short *list = reinterpret_cast<unsigned short *>(target);
        for (int k = 0; k < WORDS / THREADS; k++) {
            int w = threadIdx.x * (WORDS / THREADS) + k;
            for (unsigned long long rest = bits[w]; rest != 0; rest &= rest - 1)
                list[place++] = w * 64 + __ffsll(rest) - 1;
        }
    } else {
        for (int w = threadIdx.x; w < WORDS; w += THREADS)
            target[w] = bits[w];
    }
    if (threadIdx.x == 0) {
        cardinality[blockIdx.x] = all;
        atomicAdd(total, (unsigned long long)all);
    }
}
