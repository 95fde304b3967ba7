// A cloud carried by a wind through a box and spread: upwind differences on cuda::std::mdspan, whose layout turns with
// each step, the first index running fastest in one and the last in the other.
#include <cuda/std/array>
#include <cuda/std/mdspan>

using Extents = cuda::std::dextents<int, 3>;
template <class T, class Layout> using Grid = cuda::std::mdspan<T, Extents, Layout>;
using Winds = cuda::std::mdspan<const float, cuda::std::extents<int, cuda::std::dynamic_extent, 3>>;

struct Numbers {
    float dt, spread, sink;
    int nx, ny, nz;
};

template <class View> __device__ float held(const View &v, int i, int j, int k) {
    return v(max(0, min(i, v.extent(0) - 1)), max(0, min(j, v.extent(1) - 1)), max(0, min(k, v.extent(2) - 1)));
}

template <class From, class To>
__device__ void advance(Grid<const float, From> from, Grid<float, To> to, Winds winds, const Numbers &p, int i, int j,
                        int k) {
    const float here = from(i, j, k);
    float carried = 0.0f, around = -6.0f * here;
    const cuda::std::array<cuda::std::array<int, 3>, 3> axes = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        const auto [di, dj, dk] = axes[axis];
        const float before = held(from, i - di, j - dj, k - dk), after = held(from, i + di, j + dj, k + dk);
        const float speed = winds(k, axis);
        carried += speed > 0.0f ? speed * (here - before) : speed * (after - here);
        around += before + after;
    }
    to(i, j, k) = here + p.dt * (p.spread * around - carried - p.sink * here);
}

template <class From, class To> __device__ void everywhere(const float *in, float *out, const float *winds, const Numbers &p) {
    const Extents shape(p.nx, p.ny, p.nz);
    Grid<const float, From> from(in, shape);
    Grid<float, To> to(out, shape);
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= p.nx || j >= p.ny)
        return;
    for (int k = blockIdx.z * blockDim.z + threadIdx.z; k < p.nz; k += gridDim.z * blockDim.z)
        advance(from, to, Winds(winds, p.nz), p, i, j, k);
}

extern "C" __global__ void adv_left_right(const float *in, float *out, const float *winds, Numbers p) {
    everywhere<cuda::std::layout_left, cuda::std::layout_right>(in, out, winds, p);
}

extern "C" __global__ void adv_right_left(const float *in, float *out, const float *winds, Numbers p) {
    everywhere<cuda::std::layout_right, cuda::std::layout_left>(in, out, winds, p);
}
