// Bonded forces of molecules: bonds, angles (both harmonic) and dihedrals (a cosine with a multiplicity and a phase),
// one thread a term, with parameters by type; forces are added by atomics, energies by warps.
#include <cuda_runtime.h>

struct BondType {
    float k, r0;
};
struct AngleType {
    float k, theta0;
};
struct DihedralType {
    float k, delta;
    int multiplicity, pad;
};

__device__ inline float3 sub(float4 a, float4 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ inline void push(float *__restrict__ force, int atom, float3 v, float s) {
    atomicAdd(&force[4 * atom], s * v.x);
    atomicAdd(&force[4 * atom + 1], s * v.y);
    atomicAdd(&force[4 * atom + 2], s * v.z);
}

__device__ inline void add_energy(float e, double *total) {
    double sum = e;
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(total, sum);
}

extern "C" __global__ void bonded_zero(float4 *force, double *energy, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        force[i] = make_float4(0.f, 0.f, 0.f, 0.f);
    if (i < 3)
        energy[i] = 0.0;
}

extern "C" __global__ void bonded_bonds(const float4 *__restrict__ x, const int2 *__restrict__ bonds,
                                        const int *__restrict__ type, const BondType *__restrict__ types,
                                        float *__restrict__ force, double *energy, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    float e = 0.f;
    if (t < n) {
        const int2 b = bonds[t];
        const BondType p = types[type[t]];
        const float3 d = sub(x[b.x], x[b.y]);
        const float r = sqrtf(dot(d, d)), off = r - p.r0;
        e = p.k * off * off;
        const float s = -2.f * p.k * off / r;
        push(force, b.x, d, s);
        push(force, b.y, d, -s);
    }
    add_energy(e, energy);
}

extern "C" __global__ void bonded_angles(const float4 *__restrict__ x, const int4 *__restrict__ angles,
                                         const AngleType *__restrict__ types, float *__restrict__ force,
                                         double *energy, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    float e = 0.f;
    if (t < n) {
        const int4 a = angles[t];  // w: the type
        const AngleType p = types[a.w];
        const float3 u = sub(x[a.x], x[a.y]), v = sub(x[a.z], x[a.y]);
        const float ru = rsqrtf(dot(u, u)), rv = rsqrtf(dot(v, v));
        float c = dot(u, v) * ru * rv;
        c = fminf(fmaxf(c, -1.f), 1.f);
        const float sine = fmaxf(sqrtf(1.f - c * c), 1e-3f);
        const float off = acosf(c) - p.theta0;
        e = p.k * off * off;
        const float s = 2.f * p.k * off / sine;
        const float uu = -s * c * ru * ru, vv = -s * c * rv * rv, uv = s * ru * rv;
        const float3 fi = make_float3(uu * u.x + uv * v.x, uu * u.y + uv * v.y, uu * u.z + uv * v.z);
        const float3 fk = make_float3(vv * v.x + uv * u.x, vv * v.y + uv * u.y, vv * v.z + uv * u.z);
        push(force, a.x, fi, 1.f);
        push(force, a.z, fk, 1.f);
        push(force, a.y, make_float3(fi.x + fk.x, fi.y + fk.y, fi.z + fk.z), -1.f);
    }
    add_energy(e, energy + 1);
}

extern "C" __global__ void bonded_dihedrals(const float4 *__restrict__ x, const int4 *__restrict__ dihedrals,
                                            const unsigned char *__restrict__ type,
                                            const DihedralType *__restrict__ types, float *__restrict__ force,
                                            double *energy, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    float e = 0.f;
    if (t < n) {
        const int4 q = dihedrals[t];
        const DihedralType p = types[type[t]];
        const float3 b1 = sub(x[q.x], x[q.y]), b2 = sub(x[q.z], x[q.y]), b3 = sub(x[q.z], x[q.w]);
        const float3 m = cross(b1, b2), w = cross(b2, b3);
        const float length = sqrtf(dot(b2, b2));
        const float phi = atan2f(length * dot(b1, w), dot(m, w));
        float sine, cosine;
        sincosf(p.multiplicity * phi - p.delta, &sine, &cosine);
        e = p.k * (1.f + cosine);
        const float slope = -p.k * p.multiplicity * sine;
        const float m2 = dot(m, m), w2 = dot(w, w);
        const float si = -slope * length / m2, sl = slope * length / w2;
        const float pp = dot(b1, b2) / (length * length), qq = dot(b3, b2) / (length * length);
        push(force, q.x, m, si);
        push(force, q.w, w, sl);
        push(force, q.y, m, -si + pp * si);
        push(force, q.y, w, -qq * sl);
        push(force, q.z, w, -sl + qq * sl);
        push(force, q.z, m, -pp * si);
    }
    add_energy(e, energy + 2);
}
