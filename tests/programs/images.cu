// Images and a volume read as textures: what a texture unit does beside filtering is what the arguments say.
#include <cuda_runtime.h>

typedef cudaTextureObject_t Image;

__device__ bool within(int w, int h, int &x, int &y) {
    x = blockIdx.x * blockDim.x + threadIdx.x;
    y = blockIdx.y * blockDim.y + threadIdx.y;
    return x < w && y < h;
}

// Sums of (2r + 1)^2 texels.
extern "C" __global__ void box_sums(float *out, int w, int h, int r, Image image) {
    int x, y;
    if (!within(w, h, x, y))
        return;
    float sum = 0.0f;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++)
            sum += tex2D<float>(image, x + dx + 0.5f, y + dy + 0.5f);
    out[y * w + x] = sum;
}

// An image turned about its middle.
extern "C" __global__ void turned(float *out, int w, int h, float sine, float cosine, Image image) {
    int x, y;
    if (!within(w, h, x, y))
        return;
    float u = (x + 0.5f) / w - 0.5f, v = (y + 0.5f) / h - 0.5f;
    out[y * w + x] = tex2D<float>(image, u * cosine - v * sine + 0.5f, v * cosine + u * sine + 0.5f);
}

// Colours of bytes to one number.
extern "C" __global__ void luminance(float *out, int w, int h, Image image) {
    int x, y;
    if (!within(w, h, x, y))
        return;
    float4 colour = tex2D<float4>(image, x + 0.5f, y + 0.5f);
    out[y * w + x] = 0.25f * colour.x + 0.5f * colour.y + 0.125f * colour.z + 2.0f * colour.w;
}

// Fog along rays through a volume, until half of it is seen.
extern "C" __global__ void fog(float *out, int *steps, int w, int h, float density, Image volume) {
    int x, y;
    if (!within(w, h, x, y))
        return;
    float seen = 0.0f, depth = 0.0f;
    int step = 0;
    for (; step < 64 && seen < 0.5f; step++) {
        seen += (1.0f - seen) * density * tex3D<float>(volume, (x + 0.5f) / w, (y + 0.5f) / h, depth);
        depth += 1.0f / 64;
    }
    out[y * w + x] = seen;
    steps[y * w + x] = step;
}

// Differences in a tile with its halo.
extern "C" __global__ void edges(float *out, int w, int h, Image image) {
    __shared__ float tile[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256)
        tile[k / 34][k % 34] =
            tex2D<float>(image, blockIdx.x * 32 + k % 34 - 0.5f, blockIdx.y * 8 + k / 34 - 0.5f);
    __syncthreads();
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    if (x < w && y < h)
        out[y * w + x] = tile[j][i + 1] - tile[j][i - 1] + tile[j + 1][i] - tile[j - 1][i];
}

// Sums of runs of a line, one run a thread.
extern "C" __global__ void run_sums(float *out, const int *start, const int *length, int n, Image line) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float sum = 0.0f;
        for (int k = 0; k < length[i]; k++)
            sum += tex1Dfetch<float>(line, start[i] + k);
        out[i] = sum;
    }
}
