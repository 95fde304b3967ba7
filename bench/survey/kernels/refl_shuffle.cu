// Padding by reflection, forwards and backwards, and pixels out of channels, on tensors given by accessors: a pointer
// with sizes and strides of 64 bits, passed as a struct.
#include <stdint.h>

template <typename T, int N>
struct Accessor {
    T *data;
    int64_t sizes[N], strides[N];

    __device__ int64_t size(int i) const { return sizes[i]; }

    template <typename... I>
    __device__ T &operator()(I... index) const {
        int64_t at[] = {static_cast<int64_t>(index)...}, offset = 0;
#pragma unroll
        for (int i = 0; i < N; i++)
            offset += at[i] * strides[i];
        return data[offset];
    }
};

template <int N>
struct Shape {
    int64_t sizes[N], strides[N];
};

template <typename T, int N>
__device__ Accessor<T, N> make_accessor(T *data, const Shape<N> &shape) {
    Accessor<T, N> a;
    a.data = data;
    for (int i = 0; i < N; i++) {
        a.sizes[i] = shape.sizes[i];
        a.strides[i] = shape.strides[i];
    }
    return a;
}

struct IndexPair {
    int64_t input, output;
};

__device__ inline IndexPair get_index_mapping2d(int64_t input_dim_x, int64_t input_dim_y, int64_t output_dim_x,
                                                int64_t output_dim_y, int64_t pad_l, int64_t pad_t,
                                                int64_t output_xy) {
    int64_t i_start_x = max((int64_t)0, -pad_l), i_start_y = max((int64_t)0, -pad_t);
    int64_t o_start_x = max((int64_t)0, pad_l), o_start_y = max((int64_t)0, pad_t);
    int64_t output_x = output_xy % output_dim_x, output_y = output_xy / output_dim_x;
    int64_t input_x = ::llabs(output_x - pad_l) - ::llabs(output_x - (input_dim_x + pad_l - 1)) - output_x + 2 * pad_l +
                      input_dim_x - 1 - o_start_x + i_start_x;
    int64_t input_y = ::llabs(output_y - pad_t) - ::llabs(output_y - (input_dim_y + pad_t - 1)) - output_y + 2 * pad_t +
                      input_dim_y - 1 - o_start_y + i_start_y;
    return {input_y * input_dim_x + input_x, output_y * output_dim_x + output_x};
}

extern "C" __global__ void reflect_out(const float *in, float *out, Shape<4> in_shape, Shape<4> out_shape, int pad_l,
                                       int pad_t) {
    auto input = make_accessor(in, in_shape);
    auto output = make_accessor(out, out_shape);
    int64_t output_xy = threadIdx.x + (int64_t)blockIdx.x * blockDim.x;
    if (output_xy >= output.size(2) * output.size(3))
        return;
    auto pair = get_index_mapping2d(input.size(3), input.size(2), output.size(3), output.size(2), pad_l, pad_t,
                                    output_xy);
    output(blockIdx.z, blockIdx.y, pair.output / output.size(3), pair.output % output.size(3)) =
        input(blockIdx.z, blockIdx.y, pair.input / input.size(3), pair.input % input.size(3));
}

extern "C" __global__ void reflect_back(float *grad_in, const float *grad_out, Shape<4> in_shape, Shape<4> out_shape,
                                        int pad_l, int pad_t) {
    auto grad_input = make_accessor(grad_in, in_shape);
    auto grad_output = make_accessor(grad_out, out_shape);
    int64_t output_xy = threadIdx.x + (int64_t)blockIdx.x * blockDim.x;
    if (output_xy >= grad_output.size(2) * grad_output.size(3))
        return;
    auto pair = get_index_mapping2d(grad_input.size(3), grad_input.size(2), grad_output.size(3), grad_output.size(2),
                                    pad_l, pad_t, output_xy);
    atomicAdd(&grad_input(blockIdx.z, blockIdx.y, pair.input / grad_input.size(3), pair.input % grad_input.size(3)),
              grad_output(blockIdx.z, blockIdx.y, pair.output / grad_output.size(3),
                          pair.output % grad_output.size(3)));
}

extern "C" __global__ void pixel_shuffle(const float *in, float *out, Shape<4> in_shape, Shape<4> out_shape, int r) {
    auto input = make_accessor(in, in_shape);
    auto output = make_accessor(out, out_shape);
    int64_t total = output.size(0) * output.size(1) * output.size(2) * output.size(3);
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (int64_t)blockDim.x * gridDim.x) {
        int w = i % output.size(3);
        int h = (i / output.size(3)) % output.size(2);
        int c = (i / output.size(3) / output.size(2)) % output.size(1);
        int n = i / output.size(3) / output.size(2) / output.size(1);
        output(n, c, h, w) = input(n, (c * r + h % r) * r + w % r, h / r, w / r);
    }
}
