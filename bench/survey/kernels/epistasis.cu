// Which two places of genomes go with an illness: nine combinations of genotypes counted by bits among the ill and the
// well, and a Bayesian score of the two counts (K2) from a table of logarithms of factorials. Blocks of 16 x 16 pairs.
typedef unsigned long long u64;
#define TILE 16

// planes: [snp][genotype 0, 1][word], one bit a person; genotype 2 is neither.
__device__ void count_pair(const unsigned *a, const unsigned *b, int words, unsigned last_mask, int counts[9]) {
    for (int w = 0; w < words; w++) {
        unsigned valid = w == words - 1 ? last_mask : 0xffffffffu;
        unsigned ga[3], gb[3];
        ga[0] = a[w];
        ga[1] = a[words + w];
        ga[2] = ~(ga[0] | ga[1]) & valid;
        gb[0] = b[w];
        gb[1] = b[words + w];
        gb[2] = ~(gb[0] | gb[1]) & valid;
#pragma unroll
        for (int i = 0; i < 3; i++)
#pragma unroll
            for (int j = 0; j < 3; j++)
                counts[3 * i + j] += __popc(ga[i] & gb[j]);
    }
}

extern "C" __global__ void epistasis(const unsigned *__restrict__ ill, const unsigned *__restrict__ well,
                                     const double *__restrict__ log_factorial, double *__restrict__ scores,
                                     u64 *best, int snps, int ill_words, int well_words, unsigned ill_mask,
                                     unsigned well_mask) {
    __shared__ u64 least[TILE * TILE];
    int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;
    int tid = threadIdx.y * TILE + threadIdx.x;
    u64 mine = ~0ull;
    if (i < j && j < snps) {
        int n_ill[9] = {0}, n_well[9] = {0};
        count_pair(ill + (size_t)i * 2 * ill_words, ill + (size_t)j * 2 * ill_words, ill_words, ill_mask, n_ill);
        count_pair(well + (size_t)i * 2 * well_words, well + (size_t)j * 2 * well_words, well_words, well_mask,
                   n_well);
        double score = 0.0;
        for (int k = 0; k < 9; k++)
            score += log_factorial[n_ill[k] + n_well[k] + 1] - log_factorial[n_ill[k]] - log_factorial[n_well[k]];
        scores[(size_t)i * snps + j] = score;
        mine = ((u64)__float_as_uint((float)score) << 32) | (unsigned)(i * snps + j);
    }
    least[tid] = mine;
    __syncthreads();
    for (int s = TILE * TILE / 2; s > 0; s >>= 1) {
        if (tid < s && least[tid + s] < least[tid])
            least[tid] = least[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        atomicMin(best, least[0]);
}
