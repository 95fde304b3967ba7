// Determinants of many small matrices: elimination with pivots in global memory, a block each, a thread a row.
extern "C" __global__ void det_rows(double *matrices, double *det, int n) {
    double *a = matrices + blockIdx.x * n * n;
    int row = threadIdx.x;
    __shared__ int pivot;
    __shared__ double sign;
    if (row == 0)
        sign = 1.0;
    for (int k = 0; k < n; k++) {
        if (row == 0) {
            pivot = k;
            for (int r = k + 1; r < n; r++)
                if (fabs(a[r * n + k]) > fabs(a[pivot * n + k]))
                    pivot = r;
            if (pivot != k)
                sign = -sign;
        }
        __syncthreads();
        if (pivot != k) {
            double t = a[k * n + row];
            a[k * n + row] = a[pivot * n + row];
            a[pivot * n + row] = t;
        }
        __syncthreads();
        if (row > k) {
            double factor = a[row * n + k] / a[k * n + k];
            for (int c = k; c < n; c++)
                a[row * n + c] -= factor * a[k * n + c];
        }
        __syncthreads();
    }
    if (row == 0) {
        double d = sign;
        for (int k = 0; k < n; k++)
            d *= a[k * n + k];
        det[blockIdx.x] = d;
    }
}
