// The bootstrap with PCG64 (128 bits of state): each thread resamples the data some times, from its own part of one
// stream, by Lemire's way of bounded numbers; then quantiles' counts of the means in a histogram.
struct Pcg64 {
    unsigned __int128 state, increment;

    __device__ static constexpr unsigned __int128 multiplier() {
        return (unsigned __int128)2549297995355413924ull << 64 | 4865540595714422341ull;
    }

    __device__ Pcg64(ulonglong2 seed, ulonglong2 stream) {
        increment = ((unsigned __int128)stream.y << 64 | stream.x) << 1 | 1;
        state = 0;
        next();
        state += (unsigned __int128)seed.y << 64 | seed.x;
        next();
    }

    __device__ void advance(unsigned __int128 delta) {
        unsigned __int128 mult = 1, plus = 0, m = multiplier(), p = increment;
        while (delta > 0) {
            if (delta & 1) {
                mult *= m;
                plus = plus * m + p;
            }
            p = (m + 1) * p;
            m *= m;
            delta >>= 1;
        }
        state = mult * state + plus;
    }

    __device__ unsigned long long next() {
        state = state * multiplier() + increment;
        unsigned long long x = (unsigned long long)(state >> 64) ^ (unsigned long long)state;
        int r = (int)(state >> 122);
        return x >> r | x << (-r & 63);
    }

    __device__ unsigned long long below(unsigned long long n) {
        unsigned long long x = next(), low = x * n;
        if (low < n) {
            unsigned long long limit = (0 - n) % n;
            while (low < limit) {
                x = next();
                low = x * n;
            }
        }
        return __umul64hi(x, n);
    }
};

extern "C" __global__ void pcg_boot(const short *__restrict__ data, int n, long long *__restrict__ sums,
                                    int replicas, const ulonglong2 *seeds) {
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < replicas; r += gridDim.x * blockDim.x) {
        Pcg64 rng(seeds[0], seeds[1]);
        rng.advance((unsigned __int128)r << 64);
        long long sum = 0;
        for (int i = 0; i < n; i++)
            sum += data[rng.below(n)];
        sums[r] = sum;
    }
}

extern "C" __global__ void boot_histogram(const long long *sums, int replicas, int n, long long low, long long width,
                                          int bins, unsigned int *histogram) {
    extern __shared__ unsigned int counts[];
    for (int b = threadIdx.x; b < bins; b += blockDim.x)
        counts[b] = 0;
    __syncthreads();
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < replicas; r += gridDim.x * blockDim.x) {
        long long thousandths = sums[r] * 1000 / n;
        long long b = (thousandths - low) / width;
        atomicAdd(&counts[b < 0 ? 0 : b >= bins ? bins - 1 : (int)b], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x)
        if (counts[b])
            atomicAdd(&histogram[b], counts[b]);
}
