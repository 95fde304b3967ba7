// Spreading of points with complex strengths onto a periodic grid (the first step of a non-uniform Fourier transform):
// Gaussians of six by six cells, whose complex numbers are added by compare-and-swap of 64 bits.
struct Complex {
    float re, im;
};

__device__ __forceinline__ Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
__device__ __forceinline__ Complex operator*(float s, Complex a) { return {s * a.re, s * a.im}; }

union Packed {
    Complex value;
    unsigned long long bits;
    __device__ Packed() {}
};

__device__ void atomic_add(Complex *address, Complex add) {
    unsigned long long *word = reinterpret_cast<unsigned long long *>(address);
    Packed old, assumed, wanted;
    old.bits = *word;
    do {
        assumed.bits = old.bits;
        wanted.value = assumed.value + add;
        old.bits = atomicCAS(word, assumed.bits, wanted.bits);
    } while (old.bits != assumed.bits);
}

// exp(-k^2 / 2)
__constant__ float far_off[4] = {1.0f, 0.60653066f, 0.13533528f, 0.011108997f};

__device__ void gaussian(float distance, float (&weight)[6]) {
    float base = expf(-0.5f * distance * distance), step = expf(distance), power = 1.0f;
    float back = 1.0f / step, under = back;
    for (int k = 0; k <= 3; k++) {
        weight[2 + k] = base * power * far_off[k];
        power *= step;
    }
    for (int k = 1; k <= 2; k++) {
        weight[2 - k] = base * under * far_off[k];
        under *= back;
    }
}

__device__ __forceinline__ int wrapped(int i, int n) {
    int r = i % n;
    return r < 0 ? r + n : r;
}

extern "C" __global__ void nufft_cas(const double2 *__restrict__ points, const Complex *__restrict__ strength,
                                     Complex *grid, int count, int nx, int ny) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        double2 p = points[i];
        double x = p.x * nx, y = p.y * ny;
        int x0 = (int)floor(x), y0 = (int)floor(y);
        float wx[6], wy[6];
        gaussian((float)(x - x0), wx);
        gaussian((float)(y - y0), wy);
        Complex c = strength[i];
        for (int j = 0; j < 6; j++) {
            Complex *row = grid + (size_t)wrapped(y0 + j - 2, ny) * nx;
            for (int k = 0; k < 6; k++)
                atomic_add(row + wrapped(x0 + k - 2, nx), wx[k] * wy[j] * c);
        }
    }
}
