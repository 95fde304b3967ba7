// Area, volume, centre and box of a mesh as a binary STL file has it: records of 50 bytes, which lie at any even
// address. Warps reduce by shuffles, blocks by shared memory, and one block adds up.
#include <cuda/std/array>
#include <cuda/std/limits>
#include <cstdint>

#pragma pack(push, 1)
struct Facet {
    float normal[3];
    float corner[3][3];
    uint16_t attribute;
};
#pragma pack(pop)
static_assert(sizeof(Facet) == 50, "as in the file");

constexpr int THREADS = 256;
enum Slot { AREA, VOLUME, CX, CY, CZ, FLIPPED, SUMS };

struct Part {
    cuda::std::array<double, SUMS> sums;
    float low[3], high[3];

    __device__ static Part nothing() {
        constexpr float most = cuda::std::numeric_limits<float>::max();
        return {{}, {most, most, most}, {-most, -most, -most}};
    }

    __device__ Part &operator+=(const Part &o) {
        for (int i = 0; i < SUMS; i++)
            sums[i] += o.sums[i];
        for (int a = 0; a < 3; a++) {
            low[a] = fminf(low[a], o.low[a]);
            high[a] = fmaxf(high[a], o.high[a]);
        }
        return *this;
    }
};

template <class T> __device__ T shuffled(const T &value, int delta) {
    static_assert(sizeof(T) % 4 == 0, "whole words");
    union {
        T whole;
        unsigned words[sizeof(T) / 4];
    } bits{value};
#pragma unroll
    for (auto &word : bits.words)
        word = __shfl_down_sync(0xffffffffu, word, delta);
    return bits.whole;
}

__device__ void block_sum(Part &part) {
    __shared__ Part parts[THREADS / 32];
    for (int d = 16; d > 0; d /= 2)
        part += shuffled(part, d);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = part;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < THREADS / 32; w++)
            part += parts[w];
}

extern "C" __global__ void stl_facets(const unsigned char *file, Part *parts, int n) {
    const Facet *facets = reinterpret_cast<const Facet *>(file + 84);
    Part part = Part::nothing();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const Facet f = facets[i];
        const auto &[a, b, c] = f.corner;
        float u[3], v[3];
        for (int k = 0; k < 3; k++) {
            u[k] = b[k] - a[k];
            v[k] = c[k] - a[k];
        }
        double nx = u[1] * v[2] - u[2] * v[1], ny = u[2] * v[0] - u[0] * v[2], nz = u[0] * v[1] - u[1] * v[0];
        double volume = (a[0] * nx + a[1] * ny + a[2] * nz) / 6;
        Part one = {{0.5 * sqrt(nx * nx + ny * ny + nz * nz), volume, volume * (a[0] + b[0] + c[0]) / 4,
                     volume * (a[1] + b[1] + c[1]) / 4, volume * (a[2] + b[2] + c[2]) / 4,
                     nx * f.normal[0] + ny * f.normal[1] + nz * f.normal[2] < 0 ? 1.0 : 0.0}};
        for (int k = 0; k < 3; k++) {
            one.low[k] = fminf(a[k], fminf(b[k], c[k]));
            one.high[k] = fmaxf(a[k], fmaxf(b[k], c[k]));
        }
        part += one;
    }
    block_sum(part);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = part;
}

extern "C" __global__ void stl_total(const Part *parts, double *sums, float *box, int blocks) {
    Part part = Part::nothing();
    for (int i = threadIdx.x; i < blocks; i += blockDim.x)
        part += parts[i];
    block_sum(part);
    if (threadIdx.x == 0) {
        for (int i = 0; i < SUMS; i++)
            sums[i] = i >= CX && i <= CZ ? part.sums[i] / part.sums[VOLUME] : part.sums[i];
        for (int k = 0; k < 3; k++) {
            box[k] = part.low[k];
            box[3 + k] = part.high[k];
        }
    }
}
