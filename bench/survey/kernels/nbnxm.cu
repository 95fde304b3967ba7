// Forces between atoms in clusters of eight, as codes of molecular dynamics have them: a block takes a cluster and its
// list of partners, a thread one of 64 pairs; Lennard-Jones and a reaction field, masks of bits for what is left out.
#define CL 8
#define TYPES 4

struct Entry {
    int cluster, shift, first, last;
};

struct Partner {
    int cluster;
    unsigned mask[2];
};

struct Field {
    float epsfac, k_rf, c_rf, cutoff2;
};

__constant__ float2 lj_table[TYPES * TYPES] = {
    {0.0026f, 2.6e-6f}, {0.0021f, 2.0e-6f}, {0.0012f, 0.9e-6f}, {0.0017f, 1.5e-6f},
    {0.0021f, 2.0e-6f}, {0.0018f, 1.6e-6f}, {0.0010f, 0.7e-6f}, {0.0014f, 1.2e-6f},
    {0.0012f, 0.9e-6f}, {0.0010f, 0.7e-6f}, {0.0006f, 0.3e-6f}, {0.0008f, 0.5e-6f},
    {0.0017f, 1.5e-6f}, {0.0014f, 1.2e-6f}, {0.0008f, 0.5e-6f}, {0.0011f, 0.9e-6f},
};

__device__ float sum8(float v) {
    v += __shfl_down_sync(0xffffffffu, v, 4, CL);
    v += __shfl_down_sync(0xffffffffu, v, 2, CL);
    v += __shfl_down_sync(0xffffffffu, v, 1, CL);
    return v;
}

extern "C" __global__ void __launch_bounds__(CL *CL)
    nbnxm(const Entry *__restrict__ entries, const Partner *__restrict__ partners, const float4 *__restrict__ xq,
          const int *__restrict__ types, const float3 *__restrict__ shifts, float3 *force, float *energies,
          Field field) {
    __shared__ float3 fi_shared[CL][CL];
    __shared__ float energy_shared[2][2];
    const int ti = threadIdx.x, tj = threadIdx.y, tid = tj * CL + ti;
    const Entry entry = entries[blockIdx.x];
    const float3 shift = shifts[entry.shift];
    const int ai = entry.cluster * CL + ti;
    float4 xi = xq[ai];
    xi.x += shift.x;
    xi.y += shift.y;
    xi.z += shift.z;
    const float qi = field.epsfac * xi.w;
    const int type_i = types[ai];
    float3 fi = make_float3(0.0f, 0.0f, 0.0f);
    float e_lj = 0.0f, e_el = 0.0f;

    for (int p = entry.first; p < entry.last; p++) {
        const Partner partner = partners[p];
        const int aj = partner.cluster * CL + tj;
        float3 fj = make_float3(0.0f, 0.0f, 0.0f);
        if ((partner.mask[tid >> 5] >> (tid & 31)) & 1u) {
            const float4 xj = xq[aj];
            const float dx = xi.x - xj.x, dy = xi.y - xj.y, dz = xi.z - xj.z;
            float r2 = dx * dx + dy * dy + dz * dz;
            if (r2 < field.cutoff2) {
                r2 = fmaxf(r2, 1e-6f);
                const float inv_r = rsqrtf(r2), inv_r2 = inv_r * inv_r, inv_r6 = inv_r2 * inv_r2 * inv_r2;
                const float2 c6c12 = lj_table[type_i * TYPES + types[aj]];
                const float qq = qi * xj.w;
                const float f = inv_r6 * (12.0f * c6c12.y * inv_r6 - 6.0f * c6c12.x) * inv_r2 +
                                qq * (inv_r2 * inv_r - 2.0f * field.k_rf);
                e_lj += inv_r6 * (c6c12.y * inv_r6 - c6c12.x);
                e_el += qq * (inv_r + field.k_rf * r2 - field.c_rf);
                fj = make_float3(-f * dx, -f * dy, -f * dz);
                fi.x += f * dx;
                fi.y += f * dy;
                fi.z += f * dz;
            }
        }
        fj.x = sum8(fj.x);
        fj.y = sum8(fj.y);
        fj.z = sum8(fj.z);
        if (ti == 0) {
            atomicAdd(&force[aj].x, fj.x);
            atomicAdd(&force[aj].y, fj.y);
            atomicAdd(&force[aj].z, fj.z);
        }
    }

    fi_shared[tj][ti] = fi;
    for (int offset = 16; offset > 0; offset >>= 1) {
        e_lj += __shfl_xor_sync(0xffffffffu, e_lj, offset);
        e_el += __shfl_xor_sync(0xffffffffu, e_el, offset);
    }
    if ((tid & 31) == 0) {
        energy_shared[0][tid >> 5] = e_lj;
        energy_shared[1][tid >> 5] = e_el;
    }
    __syncthreads();
    if (tj == 0) {
        float3 sum = fi_shared[0][ti];
        for (int j = 1; j < CL; j++) {
            sum.x += fi_shared[j][ti].x;
            sum.y += fi_shared[j][ti].y;
            sum.z += fi_shared[j][ti].z;
        }
        atomicAdd(&force[ai].x, sum.x);
        atomicAdd(&force[ai].y, sum.y);
        atomicAdd(&force[ai].z, sum.z);
        if (ti < 2)
            atomicAdd(energies + ti, energy_shared[ti][0] + energy_shared[ti][1]);
    }
}
