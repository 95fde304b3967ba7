#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

// Groups of 16: their greatest, and the running sum of each as a share of the group's sum.
extern "C" __global__ void shares(const float *__restrict__ x, float *__restrict__ y, float *__restrict__ greatest,
                                  int n) {
    using Reduce = cub::WarpReduce<float, 16>;
    using Scan = cub::WarpScan<float, 16>;
    __shared__ typename Reduce::TempStorage reduce[16];
    __shared__ typename Scan::TempStorage scan[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x, group = threadIdx.x / 16;
    float v = i < n ? x[i] : 0, sum, total;
    float most = Reduce(reduce[group]).Reduce(v, cuda::maximum<>{});
    Scan(scan[group]).InclusiveSum(v, sum, total);
    if (i < n)
        y[i] = sum / total;
    if (i < n && threadIdx.x % 16 == 0)
        greatest[i / 16] = most;
}
