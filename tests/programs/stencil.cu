// A weighted 5-point stencil. The weights (centre, left, right, up, down) lie in constant memory.
__constant__ float weights[5];
__constant__ int boundary[2] = {-7, 11};
__device__ unsigned steps_done = 0;

extern "C" __global__ void stencil(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 && y == 0)
        ++steps_done;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
    if (x == 0 || x == width - 1)
        out[i] = boundary[0];
    else if (y == 0 || y == height - 1)
        out[i] = boundary[1];
    else
        out[i] = weights[0] * in[i] + weights[1] * in[i - 1] + weights[2] * in[i + 1] + weights[3] * in[i - width] +
                 weights[4] * in[i + width];
}
