typedef unsigned char uchar;
__device__ void order(int &a, int &b) {
    int t = min(a, b);
    b = max(a, b);
    a = t;
}
extern "C" __global__ void median(const uchar *a, uchar *b, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    int v[9];
#pragma unroll
    for (int k = 0; k < 9; k++)
        v[k] = a[(y + k / 3 - 1) * w + x + k % 3 - 1];
    order(v[1], v[2]); order(v[4], v[5]); order(v[7], v[8]); order(v[0], v[1]); order(v[3], v[4]); order(v[6], v[7]);
    order(v[1], v[2]); order(v[4], v[5]); order(v[7], v[8]); order(v[0], v[3]); order(v[5], v[8]); order(v[4], v[7]);
    order(v[3], v[6]); order(v[1], v[4]); order(v[2], v[5]); order(v[4], v[7]); order(v[4], v[2]); order(v[6], v[4]);
    order(v[4], v[2]);
    b[y * w + x] = v[4];
}
