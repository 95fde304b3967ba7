// Quicksort of 64 numbers by each thread, in its part of global memory, with a stack of its own.
extern "C" __global__ void quicksort(int *data, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    int *a = data + t * 64, stack[32], top = 0;
    stack[top++] = 0;
    stack[top++] = 63;
    while (top) {
        int hi = stack[--top], lo = stack[--top];
        while (lo < hi) {
            int p = a[(lo + hi) / 2], i = lo, j = hi;
            while (i <= j) {
                while (a[i] < p)
                    i++;
                while (a[j] > p)
                    j--;
                if (i <= j) {
                    int x = a[i];
                    a[i++] = a[j];
                    a[j--] = x;
                }
            }
            if (j - lo < hi - i) {
                if (i < hi)
                    stack[top++] = i, stack[top++] = hi;
                hi = j;
            } else {
                if (lo < j)
                    stack[top++] = lo, stack[top++] = j;
                lo = i;
            }
        }
    }
}
