// Reductions in the style of the CUDA SDK of 2008: templates on the size of the CTA and on the operation, dynamic
// shared memory whose type a template gives, and a last warp without barriers.
template <class T> struct SharedMemory {
    __device__ operator T *()
    {
        extern __shared__ unsigned char bytes[];
        return reinterpret_cast<T *>(bytes);
    }
};

struct Sum {
    template <class T> static __device__ T join(T a, T b) { return a + b; }
    template <class T> static __device__ T none() { return T(0); }
};

struct Largest {
    template <class T> static __device__ T join(T a, T b) { return a > b ? a : b; }
    template <class T> static __device__ T none() { return T(-1e9); }
};

template <class T, unsigned size, class Operation> __device__ void last_warp(volatile T *data, unsigned t)
{
    if (size >= 64) data[t] = Operation::template join<T>(data[t], data[t + 32]);
    if (size >= 32) data[t] = Operation::template join<T>(data[t], data[t + 16]);
    if (size >= 16) data[t] = Operation::template join<T>(data[t], data[t + 8]);
    if (size >= 8) data[t] = Operation::template join<T>(data[t], data[t + 4]);
    if (size >= 4) data[t] = Operation::template join<T>(data[t], data[t + 2]);
    if (size >= 2) data[t] = Operation::template join<T>(data[t], data[t + 1]);
}

// Shared memory has max(size, 64) elements: in the last warp all 32 lanes read, whatever the size.
template <class T, unsigned size, class Operation> __device__ void reduce(const T *in, T *out, unsigned n)
{
    T *data = SharedMemory<T>();
    unsigned t = threadIdx.x;
    T mine = Operation::template none<T>();
    for (unsigned i = blockIdx.x * size * 2 + t; i < n; i += size * 2 * gridDim.x) {
        mine = Operation::template join<T>(mine, in[i]);
        if (i + size < n) mine = Operation::template join<T>(mine, in[i + size]);
    }
    data[t] = mine;
    __syncthreads();
    if (size >= 512) { if (t < 256) data[t] = mine = Operation::template join<T>(mine, data[t + 256]); __syncthreads(); }
    if (size >= 256) { if (t < 128) data[t] = mine = Operation::template join<T>(mine, data[t + 128]); __syncthreads(); }
    if (size >= 128) { if (t < 64) data[t] = mine = Operation::template join<T>(mine, data[t + 64]); __syncthreads(); }
    if (t < 32) last_warp<T, size, Operation>(data, t);
    if (t == 0) out[blockIdx.x] = data[0];
}

template <class T, class Operation> __device__ void of_any_size(const T *in, T *out, unsigned n)
{
    switch (blockDim.x) {
    case 512: reduce<T, 512, Operation>(in, out, n); break;
    case 256: reduce<T, 256, Operation>(in, out, n); break;
    case 128: reduce<T, 128, Operation>(in, out, n); break;
    case 64: reduce<T, 64, Operation>(in, out, n); break;
    case 32: reduce<T, 32, Operation>(in, out, n); break;
    }
}

extern "C" __global__ void sum_i32(const int *in, int *out, unsigned n) { of_any_size<int, Sum>(in, out, n); }
extern "C" __global__ void sum_f64(const double *in, double *out, unsigned n) { of_any_size<double, Sum>(in, out, n); }
extern "C" __global__ void max_f32(const float *in, float *out, unsigned n) { of_any_size<float, Largest>(in, out, n); }
