struct M {
    float4 r[4];
};

extern "C" __global__ void mul(const M *a, const M *b, M *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    M x = a[i], y = b[i], z;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float4 q = x.r[k];
        z.r[k] = make_float4(q.x * y.r[0].x + q.y * y.r[1].x + q.z * y.r[2].x + q.w * y.r[3].x,
                             q.x * y.r[0].y + q.y * y.r[1].y + q.z * y.r[2].y + q.w * y.r[3].y,
                             q.x * y.r[0].z + q.y * y.r[1].z + q.z * y.r[2].z + q.w * y.r[3].z,
                             q.x * y.r[0].w + q.y * y.r[1].w + q.z * y.r[2].w + q.w * y.r[3].w);
    }
    c[i] = z;
}
