// The correlation layer of an optical flow network: both maps get borders of zeros and channels last, then a warp a
// place goes through displacements, its lanes through channels; one lane adds up what the others have.
#define THREADS_PER_BLOCK 32

extern "C" __global__ void channels_first(const float *__restrict__ input, float *rinput, int channels, int height,
                                          int width, int pad_size) {
    int n = blockIdx.x, y = blockIdx.y, x = blockIdx.z;
    int ch_off = threadIdx.x;
    int dimcyx = channels * height * width, dimyx = height * width;
    int p_dimx = width + 2 * pad_size, p_dimy = height + 2 * pad_size;
    int p_dimyxc = channels * p_dimy * p_dimx, p_dimxc = p_dimx * channels;
    for (int c = ch_off; c < channels; c += THREADS_PER_BLOCK)
        rinput[n * p_dimyxc + (y + pad_size) * p_dimxc + (x + pad_size) * channels + c] =
            input[n * dimcyx + c * dimyx + y * width + x];
}

extern "C" __global__ void correlation_forward(float *output, int nOutputChannels, int outputHeight, int outputWidth,
                                               const float *rInput1, int nInputChannels, int inputHeight,
                                               int inputWidth, const float *rInput2, int pad_size, int kernel_size,
                                               int max_displacement, int stride1, int stride2) {
    int pInputWidth = inputWidth + 2 * pad_size, pInputHeight = inputHeight + 2 * pad_size;
    int kernel_rad = (kernel_size - 1) / 2;
    int displacement_rad = max_displacement / stride2, displacement_size = 2 * displacement_rad + 1;
    int n = blockIdx.x;
    int y1 = blockIdx.y * stride1 + max_displacement, x1 = blockIdx.z * stride1 + max_displacement;
    int c = threadIdx.x;
    int pdimyxc = pInputHeight * pInputWidth * nInputChannels, pdimxc = pInputWidth * nInputChannels;
    int pdimc = nInputChannels;
    int tdimcyx = nOutputChannels * outputHeight * outputWidth, tdimyx = outputHeight * outputWidth;
    float nelems = kernel_size * kernel_size * pdimc;
    __shared__ float prod_sum[THREADS_PER_BLOCK];

    for (int tj = -displacement_rad; tj <= displacement_rad; ++tj) {
        for (int ti = -displacement_rad; ti <= displacement_rad; ++ti) {
            prod_sum[c] = 0;
            int x2 = x1 + ti * stride2, y2 = y1 + tj * stride2;
            for (int j = -kernel_rad; j <= kernel_rad; ++j) {
                for (int i = -kernel_rad; i <= kernel_rad; ++i) {
                    for (int ch = c; ch < pdimc; ch += THREADS_PER_BLOCK) {
                        int indx1 = n * pdimyxc + (y1 + j) * pdimxc + (x1 + i) * pdimc + ch;
                        int indx2 = n * pdimyxc + (y2 + j) * pdimxc + (x2 + i) * pdimc + ch;
                        prod_sum[c] += rInput1[indx1] * rInput2[indx2];
                    }
                }
            }
            __syncthreads();
            if (c == 0) {
                float reduce_sum = 0;
                for (int index = 0; index < THREADS_PER_BLOCK; ++index)
                    reduce_sum += prod_sum[index];
                int tc = (tj + displacement_rad) * displacement_size + (ti + displacement_rad);
                output[n * tdimcyx + tc * tdimyx + blockIdx.y * outputWidth + blockIdx.z] = reduce_sum / nelems;
            }
            __syncthreads();
        }
    }
}
