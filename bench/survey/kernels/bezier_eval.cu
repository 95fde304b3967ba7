// Points and normals of rational Bezier patches at places that each come with a patch's number: De Casteljau's scheme on
// copies of the control points, along one direction for each row of them and then along the other.
template <int N>
struct Strip {
    float4 p[N + 1];

    // The point at t; `tangent` is the derivative there.
    __device__ float4 at(float t, float4 &tangent) {
        for (int level = N; level > 1; level--)
            for (int i = 0; i < level; i++) {
                p[i].x += t * (p[i + 1].x - p[i].x);
                p[i].y += t * (p[i + 1].y - p[i].y);
                p[i].z += t * (p[i + 1].z - p[i].z);
                p[i].w += t * (p[i + 1].w - p[i].w);
            }
        tangent = make_float4(N * (p[1].x - p[0].x), N * (p[1].y - p[0].y), N * (p[1].z - p[0].z),
                              N * (p[1].w - p[0].w));
        return make_float4(p[0].x + t * (p[1].x - p[0].x), p[0].y + t * (p[1].y - p[0].y),
                           p[0].z + t * (p[1].z - p[0].z), p[0].w + t * (p[1].w - p[0].w));
    }
};

// Of a quotient of three coordinates by the fourth.
__device__ float3 derivative(float4 point, float4 tangent) {
    float inv = 1.0f / point.w, share = tangent.w * inv;
    return make_float3((tangent.x - point.x * share) * inv, (tangent.y - point.y * share) * inv,
                       (tangent.z - point.z * share) * inv);
}

__device__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

struct Sample {
    int patch;
    float u, v;
};

template <int N, int M>
__device__ void evaluate(const float4 *__restrict__ control, Sample s, float3 &position, float3 &normal) {
    Strip<M> across, across_u;
    const float4 *points = control + (size_t)s.patch * (N + 1) * (M + 1);
    for (int row = 0; row <= M; row++) {
        Strip<N> along;
        for (int i = 0; i <= N; i++)
            along.p[i] = points[row * (N + 1) + i];
        across.p[row] = along.at(s.u, across_u.p[row]);
    }
    float4 tangent_v, unused;
    float4 point = across.at(s.v, tangent_v);
    float4 tangent_u = across_u.at(s.v, unused);
    position = make_float3(point.x / point.w, point.y / point.w, point.z / point.w);
    normal = cross(derivative(point, tangent_u), derivative(point, tangent_v));
    float length = sqrtf(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
    float inv = length > 1e-12f ? 1.0f / length : 0.0f;
    normal = make_float3(normal.x * inv, normal.y * inv, normal.z * inv);
}

extern "C" __global__ void bezier_eval(const float4 *__restrict__ control, const Sample *__restrict__ samples,
                                       float3 *positions, float3 *normals, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        evaluate<4, 3>(control, samples[i], positions[i], normals[i]);
}
