// Orbitals as cubic B-splines in three dimensions: values, gradients and second derivatives of all orbitals where a
// walker is; a block for a walker and some orbitals, a thread for each orbital.
#define SPLINE_BLOCK 64

struct Spline {
    int nx, ny, nz;
    int sx, sy, sz;
    float inv_x, inv_y, inv_z;
};

__constant__ float A[48] = {
    -1.0f / 6, 3.0f / 6, -3.0f / 6, 1.0f / 6, 3.0f / 6, -6.0f / 6, 0.0f, 4.0f / 6,
    -3.0f / 6, 3.0f / 6, 3.0f / 6,  1.0f / 6, 1.0f / 6, 0.0f,      0.0f, 0.0f,
    0.0f,      -0.5f,    1.0f,      -0.5f,    0.0f,     1.5f,      -2.0f, 0.0f,
    0.0f,      -1.5f,    1.0f,      0.5f,     0.0f,     0.5f,      0.0f, 0.0f,
    0.0f,      0.0f,     -1.0f,     1.0f,     0.0f,     0.0f,      3.0f, -2.0f,
    0.0f,      0.0f,     -3.0f,     1.0f,     0.0f,     0.0f,      1.0f, 0.0f};

extern "C" __global__ void spline_vgh(const float *__restrict__ positions, const float *__restrict__ coefs,
                                      float *__restrict__ vals, float *__restrict__ grads,
                                      float *__restrict__ hess, Spline s, int orbitals) {
    __shared__ float r[3];
    __shared__ int index[3];
    __shared__ float abc[3][3][4];  // of an axis, of a derivative
    int tid = threadIdx.x;
    int walker = blockIdx.y;
    if (tid < 3)
        r[tid] = positions[3 * walker + tid];
    __syncthreads();
    if (tid < 3) {
        float scale = tid == 0 ? s.inv_x : tid == 1 ? s.inv_y : s.inv_z;
        int n = tid == 0 ? s.nx : tid == 1 ? s.ny : s.nz;
        float u = r[tid] * scale;
        u -= floorf(u / n) * n;
        int whole = min(max((int)u, 0), n - 1);
        index[tid] = whole;
        r[tid] = u - whole;
    }
    __syncthreads();
    if (tid < 36) {
        int axis = tid / 12, order = tid / 4 % 3, k = tid % 4;
        float t = r[axis];
        const float *row = A + 16 * order + 4 * k;
        abc[axis][order][k] = ((row[0] * t + row[1]) * t + row[2]) * t + row[3];
    }
    __syncthreads();

    int orbital = blockIdx.x * SPLINE_BLOCK + tid;
    if (orbital >= orbitals)
        return;
    float v = 0.0f, g0 = 0.0f, g1 = 0.0f, g2 = 0.0f;
    float h00 = 0.0f, h01 = 0.0f, h02 = 0.0f, h11 = 0.0f, h12 = 0.0f, h22 = 0.0f;
    const float *base = coefs + index[0] * s.sx + index[1] * s.sy + index[2] * s.sz + orbital;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const float *line = base + i * s.sx + j * s.sy;
            float c0 = 0.0f, c1 = 0.0f, c2 = 0.0f;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float c = line[k * s.sz];
                c0 += abc[2][0][k] * c;
                c1 += abc[2][1][k] * c;
                c2 += abc[2][2][k] * c;
            }
            float a = abc[0][0][i], da = abc[0][1][i], d2a = abc[0][2][i];
            float b = abc[1][0][j], db = abc[1][1][j], d2b = abc[1][2][j];
            v += a * b * c0;
            g0 += da * b * c0;
            g1 += a * db * c0;
            g2 += a * b * c1;
            h00 += d2a * b * c0;
            h01 += da * db * c0;
            h02 += da * b * c1;
            h11 += a * d2b * c0;
            h12 += a * db * c1;
            h22 += a * b * c2;
        }
    int at = walker * orbitals + orbital;
    vals[at] = v;
    float *g = grads + 3 * walker * orbitals + orbital;
    g[0] = g0 * s.inv_x;
    g[orbitals] = g1 * s.inv_y;
    g[2 * orbitals] = g2 * s.inv_z;
    float *h = hess + 6 * at;
    h[0] = h00 * s.inv_x * s.inv_x;
    h[1] = h01 * s.inv_x * s.inv_y;
    h[2] = h02 * s.inv_x * s.inv_z;
    h[3] = h11 * s.inv_y * s.inv_y;
    h[4] = h12 * s.inv_y * s.inv_z;
    h[5] = h22 * s.inv_z * s.inv_z;
}
