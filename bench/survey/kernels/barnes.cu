// Barnes-Hut: masses and centres of an octree's cells, level by level from below; forces on bodies by walking the tree
// with a stack for each thread; a leapfrog step. Places below n are bodies, from n on cells.
#define MAX_STACK 128

extern "C" __global__ void bh_summarize(float4 *pos, const int *child, int n, int first, int count) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count)
        return;
    int cell = first + t;
    float mass = 0.0f, x = 0.0f, y = 0.0f, z = 0.0f;
    for (int k = 0; k < 8; k++) {
        int c = child[cell * 8 + k];
        if (c < 0)
            continue;
        float4 p = pos[c];
        mass += p.w;
        x += p.w * p.x;
        y += p.w * p.y;
        z += p.w * p.z;
    }
    float inv = 1.0f / mass;
    pos[n + cell] = make_float4(x * inv, y * inv, z * inv, mass);
}

extern "C" __global__ void bh_forces(const float4 *__restrict__ pos, const int *__restrict__ child,
                                     const float *__restrict__ open2, float3 *__restrict__ acc, int n, float eps2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int stack[MAX_STACK];
    int top = 0;
    stack[top++] = 0;
    float4 me = pos[i];
    float3 a = make_float3(0.0f, 0.0f, 0.0f);
    while (top > 0) {
        int cell = stack[--top];
        for (int k = 0; k < 8; k++) {
            int c = child[cell * 8 + k];
            if (c < 0)
                continue;
            float4 p = pos[c];
            float dx = p.x - me.x, dy = p.y - me.y, dz = p.z - me.z;
            float r2 = dx * dx + dy * dy + dz * dz + eps2;
            if (c < n || r2 > open2[c - n]) {
                float inv = rsqrtf(r2);
                float s = p.w * inv * inv * inv;
                a.x += s * dx;
                a.y += s * dy;
                a.z += s * dz;
            } else {
                stack[top++] = c - n;
            }
        }
    }
    acc[i] = a;
}

extern "C" __global__ void bh_integrate(float4 *pos, float3 *vel, const float3 *acc, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float3 v = vel[i], a = acc[i];
    float4 p = pos[i];
    v.x += dt * a.x;
    v.y += dt * a.y;
    v.z += dt * a.z;
    p.x += dt * v.x;
    p.y += dt * v.y;
    p.z += dt * v.z;
    pos[i] = p;
    vel[i] = v;
}
