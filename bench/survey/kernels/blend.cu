extern "C" __global__ void blend(const uchar4 *a, const uchar4 *b, uchar4 *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uchar4 p = a[i], q = b[i];
    int k = p.w, m = 255 - k;
    o[i] = make_uchar4((p.x * k + q.x * m + 127) / 255, (p.y * k + q.y * m + 127) / 255, (p.z * k + q.z * m + 127) / 255, k + q.w * m / 255);
}
