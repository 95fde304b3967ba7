// Many parameters, structures by value, const __restrict__ loads, vectors, loop pragmas, local arrays.
struct alignas(16) Particle { float4 position; short kind[3]; unsigned char flags; };
__device__ unsigned char blob[1000] = {1, 2, 3, 255};
__device__ float matrix3[2][3] = {{1, 2, 3}, {4, 5, 6}};
__global__ void particles(Particle p, const float4 *__restrict__ in, float4 *out, int nx, int ny, short s, bool flag, double scale) {
    float local[16];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
#pragma unroll 1
    for (int i = 0; i < 16; ++i) local[(i * nx) & 15] = in[i + x].x * scale;
    float4 v = __ldg(in + y * nx + x);
    v.y += local[x & 15] + p.position.z + p.kind[1] + blob[y % 1000] + matrix3[x & 1][y % 3];
    if (flag && x < nx && y < ny) out[y * nx + x] = v;
    if (s == 3) { __trap(); }
    if (s == 4) asm("exit;");
}
