// Uniform noise on a picture: each pixel starts a generator (Park and Miller, shuffled as Bays and Durham say) from its
// own colours and changes them by what the generator gives.
#define IA 16807
#define IM 2147483647
#define AM (1.0f / IM)
#define IQ 127773
#define IR 2836
#define NTAB 4
#define NDIV (1 + (IM - 1) / NTAB)
#define THREADS 128

__device__ float ran1(int seed, int *iv) {
    int value = seed, iy = 0;
    for (int j = NTAB + 7; j >= 0; j--) {
        int k = value / IQ;
        value = IA * (value - k * IQ) - IR * k;
        if (value < 0)
            value += IM;
        if (j < NTAB)
            iv[THREADS * j] = value;
    }
    iy = iv[0];
    for (int round = 0; round < 3; round++) {
        int k = value / IQ;
        value = IA * (value - k * IQ) - IR * k;
        if (value < 0)
            value += IM;
        int j = iy / NDIV;
        iy = iv[THREADS * j];
        iv[THREADS * j] = value;
    }
    return AM * iy;
}

__device__ unsigned char noisy(unsigned char colour, float noise) {
    return (unsigned char)fminf(fmaxf(colour + noise, 0.0f), 255.0f);
}

extern "C" __global__ void urng(const uchar4 *__restrict__ input, uchar4 *__restrict__ output, int n, int factor) {
    __shared__ int iv[NTAB * THREADS];
    int pos = blockIdx.x * blockDim.x + threadIdx.x;
    if (pos >= n)
        return;
    uchar4 p = input[pos];
    int seed = (p.x + p.y + p.z + p.w) * 7919 + pos + 1;
    float dev = (ran1(seed, iv + threadIdx.x) - 0.55f) * (float)factor;
    uchar4 q;
    q.x = noisy(p.x, dev);
    q.y = noisy(p.y, dev);
    q.z = noisy(p.z, dev);
    q.w = p.w;
    output[pos] = q;
}
