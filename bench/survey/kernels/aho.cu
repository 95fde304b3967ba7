// Words found in a text: an automaton's table in shared memory, each thread 64 letters and what a word may overlap.
extern "C" __global__ void aho(const unsigned char *__restrict__ text, const unsigned short *__restrict__ table,
                               int *__restrict__ hits, int n, int states, int overlap) {
    extern __shared__ unsigned short next[];
    for (int i = threadIdx.x; i < states * 32; i += blockDim.x)
        next[i] = table[i];
    __syncthreads();
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * 64;
    if (start >= n)
        return;
    int state = 0, found = 0, end = min(start + 64, n);
    for (int i = max(0, start - overlap); i < end; i++) {
        unsigned short e = next[state * 32 + (text[i] & 31)];
        state = e & 0x7fff;
        found += e >> 15 & (i >= start);
    }
    hits[start / 64] = found;
}
