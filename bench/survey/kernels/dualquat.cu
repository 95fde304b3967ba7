// Morph targets (sparse deltas by a list for each vertex) and skinning by dual quaternions with four bones a vertex,
// weights in bytes; normals in signed 16 bits, octahedral.
struct Dual {
    float4 real, dual;
};

struct SkinVertex {
    float x, y, z;
    short nx, ny;  // octahedral
    uchar4 bones, weights;
};

struct Delta {
    unsigned short target;
    short x, y, z;
};

__device__ __forceinline__ float dot4(float4 a, float4 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__device__ __forceinline__ void add_scaled(float4 &to, float s, const float4 &a) {
    to.x = fmaf(s, a.x, to.x);
    to.y = fmaf(s, a.y, to.y);
    to.z = fmaf(s, a.z, to.z);
    to.w = fmaf(s, a.w, to.w);
}

__device__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ float3 turn(float4 q, float3 v) {
    float3 u = make_float3(q.x, q.y, q.z);
    float3 t = cross(u, v);
    t = make_float3(2 * t.x, 2 * t.y, 2 * t.z);
    float3 s = cross(u, t);
    return make_float3(v.x + q.w * t.x + s.x, v.y + q.w * t.y + s.y, v.z + q.w * t.z + s.z);
}

__device__ float3 unfold(short a, short b) {
    float x = fmaxf(a * (1.0f / 32767), -1.0f), y = fmaxf(b * (1.0f / 32767), -1.0f);
    float z = 1.0f - fabsf(x) - fabsf(y);
    float t = fmaxf(-z, 0.0f);
    x += x >= 0 ? -t : t;
    y += y >= 0 ? -t : t;
    float inv = 1.0f / sqrtf(x * x + y * y + z * z);
    return make_float3(x * inv, y * inv, z * inv);
}

__device__ short2 fold(float3 n) {
    float inv = 1.0f / (fabsf(n.x) + fabsf(n.y) + fabsf(n.z));
    float x = n.x * inv, y = n.y * inv;
    if (n.z < 0) {
        float ox = x;
        x = (1.0f - fabsf(y)) * (x >= 0 ? 1.0f : -1.0f);
        y = (1.0f - fabsf(ox)) * (y >= 0 ? 1.0f : -1.0f);
    }
    return make_short2((short)__float2int_rn(x * 32767.0f), (short)__float2int_rn(y * 32767.0f));
}

extern "C" __global__ void dualquat(const SkinVertex *__restrict__ vertices, const Dual *__restrict__ palette,
                                    const unsigned *__restrict__ delta_start, const Delta *__restrict__ deltas,
                                    const float *__restrict__ morph_weights, float *__restrict__ positions,
                                    short2 *__restrict__ normals, int count, int bones, int targets,
                                    float delta_scale) {
    extern __shared__ float4 shared[];
    Dual *bone = reinterpret_cast<Dual *>(shared);
    float *morph = reinterpret_cast<float *>(bone + bones);
    const int character = blockIdx.y;
    for (int i = threadIdx.x; i < 2 * bones; i += blockDim.x)
        shared[i] = reinterpret_cast<const float4 *>(palette + character * bones)[i];
    for (int i = threadIdx.x; i < targets; i += blockDim.x)
        morph[i] = morph_weights[character * targets + i];
    __syncthreads();
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    const SkinVertex v = vertices[id];
    float3 p = make_float3(v.x, v.y, v.z);
    for (unsigned k = delta_start[id]; k < delta_start[id + 1]; k++) {
        Delta d = deltas[k];
        float w = morph[d.target] * delta_scale;
        if (w == 0.0f)
            continue;
        p.x += w * d.x;
        p.y += w * d.y;
        p.z += w * d.z;
    }
    const unsigned char index[4] = {v.bones.x, v.bones.y, v.bones.z, v.bones.w};
    const unsigned char weight[4] = {v.weights.x, v.weights.y, v.weights.z, v.weights.w};
    float4 real = make_float4(0, 0, 0, 0), dual = real;
    const float4 pivot = bone[index[0]].real;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (weight[k] == 0)
            break;
        const Dual &b = bone[index[k]];
        float w = weight[k] * (1.0f / 255.0f);
        if (dot4(b.real, pivot) < 0.0f)
            w = -w;
        add_scaled(real, w, b.real);
        add_scaled(dual, w, b.dual);
    }
    float inv = 1.0f / sqrtf(dot4(real, real));
    real = make_float4(real.x * inv, real.y * inv, real.z * inv, real.w * inv);
    dual = make_float4(dual.x * inv, dual.y * inv, dual.z * inv, dual.w * inv);
    float3 r = turn(real, p);
    float3 rv = make_float3(real.x, real.y, real.z), dv = make_float3(dual.x, dual.y, dual.z);
    float3 c = cross(rv, dv);
    float *to = positions + 3 * ((size_t)character * count + id);
    to[0] = r.x + 2.0f * (real.w * dv.x - dual.w * rv.x + c.x);
    to[1] = r.y + 2.0f * (real.w * dv.y - dual.w * rv.y + c.y);
    to[2] = r.z + 2.0f * (real.w * dv.z - dual.w * rv.z + c.z);
    normals[(size_t)character * count + id] = fold(turn(real, unfold(v.nx, v.ny)));
}
