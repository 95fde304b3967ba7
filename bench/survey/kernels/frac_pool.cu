// Fractional max pooling: windows start at places drawn for each plane, the largest value and its index are kept;
// max-unpooling puts values back to their places, and the gradient goes there by atomics (windows overlap).
#include <math_constants.h>

#define KERNEL_LOOP(type, i, n)                                                                                        \
    for (type i = (type)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (type)blockDim.x * gridDim.x)

template <typename scalar_t>
__device__ inline int get_interval(scalar_t sample, int index, int inputSize, int outputSize, int poolSize) {
    scalar_t alpha = static_cast<scalar_t>(inputSize - poolSize) / static_cast<scalar_t>(outputSize - 1);
    if (index == outputSize - 1)
        return inputSize - poolSize;
    return static_cast<int>((index + sample) * alpha) - static_cast<int>(sample * alpha);
}

extern "C" __global__ void frac_forward(const float *__restrict__ input, const float2 *__restrict__ samples,
                                        float *__restrict__ output, long long *__restrict__ indices, int inputH,
                                        int inputW, int outputH, int outputW, int poolSizeH, int poolSizeW) {
    int ourOutputPoint = threadIdx.x + blockIdx.x * blockDim.x;
    int plane = blockIdx.y;
    int batch = blockIdx.z;
    if (ourOutputPoint >= outputH * outputW)
        return;
    int outW = ourOutputPoint % outputW;
    int outH = ourOutputPoint / outputW;
    long long slice = (long long)batch * gridDim.y + plane;
    float2 sample = samples[slice];
    int poolW = get_interval<float>(sample.x, outW, inputW, outputW, poolSizeW);
    int poolH = get_interval<float>(sample.y, outH, inputH, outputH, poolSizeH);
    const float *in = input + slice * inputH * inputW;

    float maxVal = -CUDART_INF_F;
    int maxIndex = poolH * inputW + poolW;
    for (int h = poolH; h < poolH + poolSizeH; ++h) {
        if (poolSizeW < 2 || poolSizeW > 7) {
            for (int w = poolW; w < poolW + poolSizeW; ++w) {
                float val = in[h * inputW + w];
                if (val > maxVal || isnan(val)) {
                    maxIndex = h * inputW + w;
                    maxVal = val;
                }
            }
        } else {
#pragma unroll 2
            for (int i = 0; i < poolSizeW; ++i) {
                int w = i + poolW;
                float val = in[h * inputW + w];
                if (val > maxVal || isnan(val)) {
                    maxIndex = h * inputW + w;
                    maxVal = val;
                }
            }
        }
    }
    indices[slice * outputH * outputW + ourOutputPoint] = maxIndex;
    output[slice * outputH * outputW + ourOutputPoint] = maxVal;
}

extern "C" __global__ void max_unpool(long long numInputElements, const float *input, const long long *indices,
                                      int numChannels, int inputHeight, int inputWidth, int outputHeight,
                                      int outputWidth, float *output) {
    long long outputImageSize = (long long)outputHeight * outputWidth;
    KERNEL_LOOP(long long, linearIndex, numInputElements) {
        int c = (linearIndex / inputWidth / inputHeight) % numChannels;
        int n = linearIndex / inputWidth / inputHeight / numChannels;
        output[((long long)n * numChannels + c) * outputImageSize + indices[linearIndex]] = input[linearIndex];
    }
}

extern "C" __global__ void frac_backward(float *gradInput, const float *gradOutput, const long long *indices,
                                         int inputSize, int outputSize) {
    int ourOutputPoint = threadIdx.x + blockIdx.x * blockDim.x;
    long long slice = (long long)blockIdx.z * gridDim.y + blockIdx.y;
    if (ourOutputPoint < outputSize) {
        long long index = indices[slice * outputSize + ourOutputPoint];
        atomicAdd(&gradInput[slice * inputSize + index], gradOutput[slice * outputSize + ourOutputPoint]);
    }
}
