// Linear blend skinning: vertices of 48 bytes, four bones and weights of a byte each, tangents of 10 bits a part;
// a row of blocks for each instance of the mesh, whose matrices are put into shared memory first.
#define MAX_BONES 80

struct __align__(16) Vertex {
    float3 position;
    uchar4 bone;
    float3 normal;
    uchar4 weight;
    float2 uv;
    unsigned int colour;
    unsigned int tangent;
};

struct Mat34 {
    float4 row[3];

    __device__ __forceinline__ Mat34 &operator+=(const Mat34 &o) {
#pragma unroll
        for (int i = 0; i < 3; i++) {
            row[i].x += o.row[i].x;
            row[i].y += o.row[i].y;
            row[i].z += o.row[i].z;
            row[i].w += o.row[i].w;
        }
        return *this;
    }
};

__device__ __forceinline__ Mat34 operator*(float s, const Mat34 &m) {
    Mat34 r;
#pragma unroll
    for (int i = 0; i < 3; i++)
        r.row[i] = make_float4(s * m.row[i].x, s * m.row[i].y, s * m.row[i].z, s * m.row[i].w);
    return r;
}

__device__ __forceinline__ float3 point(const Mat34 &m, float3 p) {
    return make_float3(m.row[0].x * p.x + m.row[0].y * p.y + m.row[0].z * p.z + m.row[0].w,
                       m.row[1].x * p.x + m.row[1].y * p.y + m.row[1].z * p.z + m.row[1].w,
                       m.row[2].x * p.x + m.row[2].y * p.y + m.row[2].z * p.z + m.row[2].w);
}

__device__ __forceinline__ float3 direction(const Mat34 &m, float3 p) {
    float3 d = make_float3(m.row[0].x * p.x + m.row[0].y * p.y + m.row[0].z * p.z,
                           m.row[1].x * p.x + m.row[1].y * p.y + m.row[1].z * p.z,
                           m.row[2].x * p.x + m.row[2].y * p.y + m.row[2].z * p.z);
    float s = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z);
    return make_float3(s * d.x, s * d.y, s * d.z);
}

__device__ __forceinline__ float3 unpack_snorm10(unsigned int v) {
    int x = (int)(v << 22) >> 22, y = (int)(v << 12) >> 22, z = (int)(v << 2) >> 22;
    const float k = 1.0f / 511.0f;
    return make_float3(fmaxf(x * k, -1.0f), fmaxf(y * k, -1.0f), fmaxf(z * k, -1.0f));
}

__device__ __forceinline__ unsigned int pack_snorm10(float3 v, unsigned int top) {
    unsigned int x = __float2int_rn(v.x * 511.0f) & 0x3ff, y = __float2int_rn(v.y * 511.0f) & 0x3ff,
                 z = __float2int_rn(v.z * 511.0f) & 0x3ff;
    return x | y << 10 | z << 20 | (top & 0xc0000000u);
}

extern "C" __global__ void skin4(const Vertex *__restrict__ mesh, const float4 *__restrict__ palette,
                                 float4 *__restrict__ position_u, float4 *__restrict__ normal_v,
                                 unsigned int *__restrict__ tangent, int vertices, int bones) {
    __shared__ Mat34 bone[MAX_BONES];
    const float4 *mine = palette + (size_t)blockIdx.y * bones * 3;
    float4 *flat = &bone[0].row[0];
    for (int i = threadIdx.x; i < bones * 3; i += blockDim.x)
        flat[i] = mine[i];
    __syncthreads();

    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= vertices)
        return;
    Vertex v = mesh[id];
    const float k = 1.0f / 255.0f;
    Mat34 m = (v.weight.x * k) * bone[v.bone.x];
    if (v.weight.y)
        m += (v.weight.y * k) * bone[v.bone.y];
    if (v.weight.z)
        m += (v.weight.z * k) * bone[v.bone.z];
    if (v.weight.w)
        m += (v.weight.w * k) * bone[v.bone.w];

    float3 p = point(m, v.position);
    float3 n = direction(m, v.normal);
    float3 t = direction(m, unpack_snorm10(v.tangent));
    size_t out = (size_t)blockIdx.y * vertices + id;
    position_u[out] = make_float4(p.x, p.y, p.z, v.uv.x);
    normal_v[out] = make_float4(n.x, n.y, n.z, v.uv.y);
    tangent[out] = pack_snorm10(t, v.tangent);
}
