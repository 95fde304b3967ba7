// Categories of characters by two tables, counted: a page for each 256 of them.
__device__ const unsigned char *page(const unsigned char *pages, const unsigned char *index, unsigned c) {
    return pages + index[c >> 8] * 256 + (c & 255);
}

extern "C" __global__ void categories(const unsigned short *__restrict__ text, const unsigned char *__restrict__ index,
                                      const unsigned char *__restrict__ pages, unsigned char *__restrict__ kinds,
                                      int *__restrict__ words, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, kind = 0, before = 0;
    if (i < n) {
        kind = *page(pages, index, text[i]);
        before = i ? *page(pages, index, text[i - 1]) : 0;
        kinds[i] = kind;
    }
    int starts = __syncthreads_count(kind == 1 && before != 1);
    if (threadIdx.x == 0)
        words[blockIdx.x] = starts;
}
