// Lennard-Jones forces by lists of neighbours: the k-th neighbours of all atoms stand side by side, a thread goes
// through its atom's.
extern "C" __global__ void verlet_lj(const float4 *position, const int *neighbours, const int *counts, float4 *force,
                                     int atoms, float box, float cutoff, float epsilon, float sigma) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= atoms)
        return;
    float4 me = position[i];
    float inv_box = 1.0f / box;
    float cutoff2 = cutoff * cutoff;
    float sigma2 = sigma * sigma;
    float3 f = make_float3(0.0f, 0.0f, 0.0f);
    float energy = 0.0f;

    int count = counts[i];
    for (int k = 0; k < count; k++) {
        int j = neighbours[k * atoms + i];
        float4 other = position[j];
        float dx = me.x - other.x, dy = me.y - other.y, dz = me.z - other.z;
        dx -= box * rintf(dx * inv_box);
        dy -= box * rintf(dy * inv_box);
        dz -= box * rintf(dz * inv_box);
        float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < cutoff2) {
            float inv_r2 = 1.0f / r2;
            float s2 = sigma2 * inv_r2;
            float s6 = s2 * s2 * s2;
            float scale = 24.0f * epsilon * inv_r2 * s6 * (2.0f * s6 - 1.0f);
            f.x += scale * dx;
            f.y += scale * dy;
            f.z += scale * dz;
            energy += 2.0f * epsilon * s6 * (s6 - 1.0f);
        }
    }
    force[i] = make_float4(f.x, f.y, f.z, energy);
}
