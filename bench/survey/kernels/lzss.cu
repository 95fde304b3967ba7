// LZSS on chunks: for each byte the longest earlier match in a window, a thread a byte; then a thread a chunk takes
// matches or bytes as they come, eight to a byte of flags; then the chunks are put side by side.
#define CHUNK 2048
#define WINDOW 128
#define LEAST 3
#define MOST 18
#define THREADS 128
#define ROOM (CHUNK + CHUNK / 8)

extern "C" __global__ void __launch_bounds__(THREADS)
    lzss_match(const unsigned char *__restrict__ in, uchar2 *__restrict__ matches, int n) {
    __shared__ unsigned char text[CHUNK];
    const int base = blockIdx.x * CHUNK;
    const int length = min(CHUNK, n - base);
    for (int i = threadIdx.x; i < length; i += THREADS)
        text[i] = in[base + i];
    __syncthreads();
    for (int pos = threadIdx.x; pos < length; pos += THREADS) {
        int best = 0, where = 0;
        const int limit = min(MOST, length - pos);
        const int farthest = min(pos, WINDOW);
        for (int off = 1; off <= farthest; off++) {
            int k = 0;
            while (k < limit && text[pos + k] == text[pos - off + k])
                k++;
            if (k > best) {
                best = k;
                where = off;
                if (best == limit)
                    break;
            }
        }
        matches[base + pos] = make_uchar2(best, where);
    }
}

extern "C" __global__ void lzss_emit(const unsigned char *__restrict__ in, const uchar2 *__restrict__ matches,
                                     unsigned char *__restrict__ packed, int *__restrict__ sizes, int n, int chunks) {
    int chunk = blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= chunks)
        return;
    const int end = min(n, (chunk + 1) * CHUNK);
    unsigned char *out = packed + (size_t)chunk * ROOM;
    int pos = chunk * CHUNK, size = 0, flags_at = 0, bit = 8;
    while (pos < end) {
        if (bit == 8) {
            flags_at = size++;
            out[flags_at] = 0;
            bit = 0;
        }
        uchar2 m = matches[pos];
        if (m.x >= LEAST) {
            out[flags_at] |= 1 << bit;
            out[size++] = m.x - LEAST;
            out[size++] = m.y - 1;
            pos += m.x;
        } else
            out[size++] = in[pos++];
        bit++;
    }
    sizes[chunk] = size;
}

extern "C" __global__ void lzss_pack(const unsigned char *__restrict__ packed, const int *__restrict__ sizes,
                                     unsigned char *__restrict__ out, int *__restrict__ total, int chunks) {
    __shared__ int start;
    if (threadIdx.x == 0)
        start = 0;
    __syncthreads();
    int before = 0;
    for (int c = threadIdx.x; c < blockIdx.x; c += blockDim.x)
        before += sizes[c];
    atomicAdd(&start, before);
    __syncthreads();
    const int size = sizes[blockIdx.x];
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        out[start + i] = packed[(size_t)blockIdx.x * ROOM + i];
    if (blockIdx.x == chunks - 1 && threadIdx.x == 0)
        *total = start + size;
}
