// Recursion of a depth that differs from lane to lane.
__device__ __noinline__ unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ void quicksort(int *v, int low, int high)
{
    if (low >= high)
        return;
    int pivot = v[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (v[i] < pivot) ++i;
        while (v[j] > pivot) --j;
        if (i <= j) {
            int t = v[i];
            v[i++] = v[j];
            v[j--] = t;
        }
    }
    quicksort(v, low, j);
    quicksort(v, i, high);
}

extern "C" __global__ void fibonacci_numbers(const unsigned *which, unsigned *result, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        result[i] = fibonacci(which[i]);
}

// Each thread sorts its own row, in place.
extern "C" __global__ void sort_rows(int *rows, int width, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        quicksort(rows + i * width, 0, width - 1);
}
