// A sketch of DNA: k-mers of reads (two bits a base, the lesser of both strands) are hashed, and each bucket keeps
// the least hash it gets. A thread for each read; other letters than ACGT begin a k-mer anew.
typedef unsigned long long u64;

__device__ int code_of(char base) {
    switch (base) {
    case 'A':
    case 'a':
        return 0;
    case 'C':
    case 'c':
        return 1;
    case 'G':
    case 'g':
        return 2;
    case 'T':
    case 't':
        return 3;
    default:
        return -1;
    }
}

__device__ u64 mix(u64 x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

extern "C" __global__ void minhash(const char *reads, const unsigned *offsets, u64 *sketch, unsigned *seen, int n,
                                   int k, int bucket_bits) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n)
        return;
    u64 mask = (1ULL << (2 * k)) - 1;
    int shift = 2 * (k - 1);
    u64 forward = 0, reverse = 0;
    int length = 0;
    for (unsigned i = offsets[r]; i < offsets[r + 1]; i++) {
        int code = code_of(reads[i]);
        if (code < 0) {
            length = 0;
            continue;
        }
        forward = ((forward << 2) | code) & mask;
        reverse = (reverse >> 2) | ((u64)(3 - code) << shift);
        if (++length < k)
            continue;
        u64 hash = mix(forward < reverse ? forward : reverse);
        unsigned bucket = hash >> (64 - bucket_bits);
        atomicMin(&sketch[bucket], hash);
        atomicAdd(&seen[bucket], 1u);
    }
}
