// Sampling volumes at points of a grid, trilinear or nearest, with zeros, the border or reflections outside: sizes
// and strides in structs, a grid-stride loop over outputs, choices at run time.
struct TensorInfo5 {
    int sizes[5];
    int strides[5];
};

#define CUDA_KERNEL_LOOP(i, n)                                                                                       \
    for (long long _i = (long long)blockIdx.x * blockDim.x + threadIdx.x, i = _i; _i < (n);                          \
         _i += (long long)blockDim.x * gridDim.x, i = _i)

enum { BILINEAR, NEAREST };
enum { ZEROS, BORDER, REFLECTION };

template <typename scalar_t>
__device__ __forceinline__ scalar_t unnormalize(scalar_t coord, int size, bool align_corners) {
    if (align_corners)
        return ((coord + 1.f) / 2) * (size - 1);
    return ((coord + 1.f) * size - 1) / 2;
}

template <typename scalar_t> __device__ __forceinline__ scalar_t clip(scalar_t in, int limit) {
    return ::min(static_cast<scalar_t>(limit - 1), ::max(in, static_cast<scalar_t>(0)));
}

template <typename scalar_t> __device__ __forceinline__ scalar_t reflect(scalar_t in, int twice_low, int twice_high) {
    if (twice_low == twice_high)
        return static_cast<scalar_t>(0);
    scalar_t min = static_cast<scalar_t>(twice_low) / 2;
    scalar_t span = static_cast<scalar_t>(twice_high - twice_low) / 2;
    in = ::fabs(in - min);
    scalar_t extra = ::fmod(in, span);
    int flips = static_cast<int>(::floor(in / span));
    if (flips % 2 == 0)
        return extra + min;
    return span - extra + min;
}

template <typename scalar_t>
__device__ __forceinline__ scalar_t source_index(scalar_t coord, int size, int padding, bool align) {
    coord = unnormalize(coord, size, align);
    if (padding == BORDER)
        coord = clip(coord, size);
    else if (padding == REFLECTION) {
        coord = align ? reflect(coord, 0, 2 * (size - 1)) : reflect(coord, -1, 2 * size - 1);
        coord = clip(coord, size);
    }
    return coord;
}

__device__ __forceinline__ bool within(int d, int h, int w, int D, int H, int W) {
    return d >= 0 && d < D && h >= 0 && h < H && w >= 0 && w < W;
}

template <typename scalar_t, typename index_t>
__device__ void grid_sampler_3d(const index_t nthreads, const scalar_t *input, const scalar_t *grid, scalar_t *output,
                                const TensorInfo5 &in, const TensorInfo5 &gr, const TensorInfo5 &out, int mode,
                                int padding, bool align) {
    index_t C = in.sizes[1], D = in.sizes[2], H = in.sizes[3], W = in.sizes[4];
    index_t out_d = gr.sizes[1], out_h = gr.sizes[2], out_w = gr.sizes[3];
    CUDA_KERNEL_LOOP(index, nthreads) {
        const index_t w = index % out_w, h = (index / out_w) % out_h, d = (index / (out_h * out_w)) % out_d;
        const index_t n = index / (out_d * out_h * out_w);
        const index_t at = n * gr.strides[0] + d * gr.strides[1] + h * gr.strides[2] + w * gr.strides[3];
        scalar_t x = grid[at], y = grid[at + gr.strides[4]], z = grid[at + 2 * gr.strides[4]];
        scalar_t ix = source_index(x, W, padding, align);
        scalar_t iy = source_index(y, H, padding, align);
        scalar_t iz = source_index(z, D, padding, align);
        const scalar_t *ptr = input + n * in.strides[0];
        scalar_t *o = output + n * out.strides[0] + d * out.strides[2] + h * out.strides[3] + w * out.strides[4];
        if (mode == BILINEAR) {
            index_t x0 = static_cast<index_t>(::floor(ix)), y0 = static_cast<index_t>(::floor(iy));
            index_t z0 = static_cast<index_t>(::floor(iz));
            scalar_t fx = ix - x0, fy = iy - y0, fz = iz - z0;
            for (index_t c = 0; c < C; ++c, ptr += in.strides[1], o += out.strides[1]) {
                scalar_t sum = 0;
#pragma unroll
                for (int k = 0; k < 8; k++) {
                    index_t xx = x0 + (k & 1), yy = y0 + (k >> 1 & 1), zz = z0 + (k >> 2);
                    if (within(zz, yy, xx, D, H, W))
                        sum += ptr[zz * in.strides[2] + yy * in.strides[3] + xx * in.strides[4]] *
                               (k & 1 ? fx : 1 - fx) * (k & 2 ? fy : 1 - fy) * (k & 4 ? fz : 1 - fz);
                }
                *o = sum;
            }
        } else if (mode == NEAREST) {
            index_t xx = static_cast<index_t>(::nearbyint(ix)), yy = static_cast<index_t>(::nearbyint(iy));
            index_t zz = static_cast<index_t>(::nearbyint(iz));
            for (index_t c = 0; c < C; ++c, ptr += in.strides[1], o += out.strides[1])
                *o = within(zz, yy, xx, D, H, W)
                         ? ptr[zz * in.strides[2] + yy * in.strides[3] + xx * in.strides[4]]
                         : static_cast<scalar_t>(0);
        }
    }
}

extern "C" __global__ void __launch_bounds__(512)
    grid3d(int nthreads, const float *input, const float *grid, float *output, TensorInfo5 in, TensorInfo5 gr,
           TensorInfo5 out, int mode, int padding, int align) {
    grid_sampler_3d<float, int>(nthreads, input, grid, output, in, gr, out, mode, padding, align != 0);
}
