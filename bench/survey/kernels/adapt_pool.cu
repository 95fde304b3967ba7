// Adaptive average pooling of planes given by strides, forwards and backwards: an output cell averages the input rows
// and columns that it covers, which may overlap its neighbours'. A plane a block in x, some rows a block in y.
#include <cuda_fp16.h>

__device__ __forceinline__ int start_index(int a, int b, int c) {
    return (a / b) * c + ((a % b) * c) / b;
}

__device__ __forceinline__ int end_index(int a, int b, int c) {
    return 1 + ((a + 1) * c - 1) / b;
}

template <typename scalar_t, typename accscalar_t>
__device__ void adaptive_average_pool(const scalar_t *input, scalar_t *output, int isizeH, int isizeW, int osizeH,
                                      int osizeW, long long istrideD, long long istrideH, long long istrideW) {
    int o_plane = blockIdx.x;
    output = output + (long long)o_plane * osizeH * osizeW;
    input = input + o_plane * istrideD;

    int ostartH = blockDim.y * blockIdx.y + threadIdx.y;
    const int ostepH = blockDim.y * gridDim.y;
    for (int oh = ostartH; oh < osizeH; oh += ostepH) {
        int istartH = start_index(oh, osizeH, isizeH);
        int kH = end_index(oh, osizeH, isizeH) - istartH;
        for (int ow = threadIdx.x; ow < osizeW; ow += blockDim.x) {
            int istartW = start_index(ow, osizeW, isizeW);
            int kW = end_index(ow, osizeW, isizeW) - istartW;
            const scalar_t *ptr_input = input + istartH * istrideH + istartW * istrideW;
            accscalar_t sum = static_cast<accscalar_t>(0);
            for (int ih = 0; ih < kH; ++ih) {
                for (int iw = 0; iw < kW; ++iw)
                    sum += static_cast<accscalar_t>(ptr_input[iw * istrideW]);
                ptr_input += istrideH;
            }
            output[oh * osizeW + ow] = static_cast<scalar_t>(sum / static_cast<accscalar_t>(kH * kW));
        }
    }
}

template <typename T>
__device__ void adaptive_average_gradinput(T *grad_input, const T *grad_output, int isizeH, int isizeW, int osizeH,
                                           int osizeW) {
    int plane = blockIdx.x;
    grad_output += (long long)plane * osizeH * osizeW;
    grad_input += (long long)plane * isizeH * isizeW;
    for (int ih = blockDim.y * blockIdx.y + threadIdx.y; ih < isizeH; ih += blockDim.y * gridDim.y) {
        int ostartH = start_index(ih, isizeH, osizeH), oendH = end_index(ih, isizeH, osizeH);
        for (int iw = threadIdx.x; iw < isizeW; iw += blockDim.x) {
            int ostartW = start_index(iw, isizeW, osizeW), oendW = end_index(iw, isizeW, osizeW);
            T sum = T(0);
            for (int oh = ostartH; oh < oendH; ++oh) {
                int kH = end_index(oh, osizeH, isizeH) - start_index(oh, osizeH, isizeH);
                for (int ow = ostartW; ow < oendW; ++ow) {
                    int kW = end_index(ow, osizeW, isizeW) - start_index(ow, osizeW, isizeW);
                    sum += grad_output[oh * osizeW + ow] / kW / kH;
                }
            }
            grad_input[ih * isizeW + iw] = sum;
        }
    }
}

extern "C" __global__ void adapt_half(const __half *input, __half *output, int isizeH, int isizeW, int osizeH,
                                      int osizeW, long long istrideD, long long istrideH, long long istrideW) {
    adaptive_average_pool<__half, float>(input, output, isizeH, isizeW, osizeH, osizeW, istrideD, istrideH, istrideW);
}

extern "C" __global__ void adapt_float(const float *input, float *output, int isizeH, int isizeW, int osizeH,
                                       int osizeW, long long istrideD, long long istrideH, long long istrideW) {
    adaptive_average_pool<float, float>(input, output, isizeH, isizeW, osizeH, osizeW, istrideD, istrideH, istrideW);
}

extern "C" __global__ void adapt_back(float *grad_input, const float *grad_output, int isizeH, int isizeW, int osizeH,
                                      int osizeW) {
    adaptive_average_gradinput<float>(grad_input, grad_output, isizeH, isizeW, osizeH, osizeW);
}
