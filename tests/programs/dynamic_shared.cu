// Shared memory whose size the launch gives, alone and beside a static array.
extern __shared__ unsigned char dynamic[];

extern "C" __global__ void reverse_in_block(const double *in, double *out)
{
    double *buffer = reinterpret_cast<double *>(dynamic);
    int t = threadIdx.x, base = blockIdx.x * blockDim.x;
    buffer[t] = in[base + t];
    __syncthreads();
    out[base + t] = buffer[blockDim.x - 1 - t];
}

// Two arrays of different types carved out of the same dynamic memory, and a static one.
extern "C" __global__ void carve(const int *in, int *out)
{
    __shared__ int fixed[4];
    int t = threadIdx.x, n = blockDim.x;
    int *words = reinterpret_cast<int *>(dynamic);
    unsigned char *bytes = dynamic + n * sizeof(int);
    if (t < 4)
        fixed[t] = 1000 * (t + 1);
    words[t] = in[blockIdx.x * n + t];
    bytes[t] = (unsigned char)(t * 7);
    __syncthreads();
    int other = (t + 1) % n;
    out[blockIdx.x * n + t] = words[other] + bytes[other] + fixed[t % 4];
}

// How much dynamic shared memory the launch gave, in bytes.
extern "C" __global__ void dynamic_size(unsigned *size)
{
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(*size));
}
