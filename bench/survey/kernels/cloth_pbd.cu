// Cloth by extended position based dynamics: particles are float4 with the inverse mass last, constraints come in
// batches of which no two share a particle, a launch for each; a ball and the floor are in the way.
struct __align__(16) Constraint {
    int a, b;
    float rest, compliance;
};

__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w);
}
__device__ __forceinline__ float4 operator-(float4 a, float4 b) {
    return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w);
}
__device__ __forceinline__ float4 operator*(float s, float4 a) {
    return make_float4(s * a.x, s * a.y, s * a.z, a.w);
}
__device__ __forceinline__ float dot(float4 a, float4 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

extern "C" __global__ void cloth_predict(float4 *__restrict__ place, float4 *__restrict__ before,
                                         const float4 *__restrict__ speed, int n, float h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = place[i];
    before[i] = p;
    if (p.w == 0.0f)
        return;
    float4 v = speed[i];
    v.y -= 9.81f * h;
    place[i] = p + h * v;
}

extern "C" __global__ void cloth_solve(float4 *place, const Constraint *__restrict__ constraints, int count,
                                       float inv_h2) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count)
        return;
    const Constraint c = constraints[k];
    float4 a = place[c.a], b = place[c.b];
    float w = a.w + b.w;
    if (w == 0.0f)
        return;
    float4 d = a - b;
    float length = sqrtf(dot(d, d));
    if (length < 1e-6f)
        return;
    float s = (length - c.rest) / (length * (w + c.compliance * inv_h2));
    place[c.a] = a - (s * a.w) * d;
    place[c.b] = b + (s * b.w) * d;
}

extern "C" __global__ void cloth_collide(float4 *__restrict__ place, const float4 *__restrict__ before,
                                         float4 *__restrict__ speed, int n, const float4 *ball, float floor, float friction,
                                         float inv_h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = place[i], old = before[i];
    if (p.w != 0.0f) {
        float4 centre = *ball, d = p - centre;
        float r2 = dot(d, d);
        bool touched = false;
        if (r2 < centre.w * centre.w) {
            p = p + (centre.w / sqrtf(r2) - 1.0f) * d;
            touched = true;
        }
        if (p.y < floor) {
            p.y = floor;
            touched = true;
        }
        if (touched)
            p = p - friction * (p - old);
        place[i] = p;
    }
    float4 v = inv_h * (p - old);
    v.w = 0.0f;
    speed[i] = v;
}
