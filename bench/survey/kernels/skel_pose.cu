// Poses of skeletons: each joint blends two key frames, then the levels of the tree follow each other in shared
// memory; out come matrices of 3 x 4 for skinning. Quaternions and transforms with operators of their own.
struct Vec3 {
    float x, y, z;
};

__device__ inline Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ inline Vec3 operator*(float s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
__device__ inline Vec3 cross(Vec3 a, Vec3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

struct Quat {
    float w;
    Vec3 v;

    __device__ Quat operator*(const Quat &o) const {
        float dot = v.x * o.v.x + v.y * o.v.y + v.z * o.v.z;
        return {w * o.w - dot, w * o.v + o.w * v + cross(v, o.v)};
    }
    __device__ Vec3 operator()(Vec3 p) const {
        Vec3 t = 2.0f * cross(v, p);
        return p + w * t + cross(v, t);
    }
    __device__ float dot(const Quat &o) const { return w * o.w + v.x * o.v.x + v.y * o.v.y + v.z * o.v.z; }
};

__device__ Quat slerp(const Quat &a, Quat b, float t) {
    float c = a.dot(b);
    if (c < 0.0f) {
        c = -c;
        b = {-b.w, -1.0f * b.v};
    }
    float wa = 1.0f - t, wb = t;
    if (c < 0.9995f) {
        float angle = acosf(c), inverse = 1.0f / sinf(angle);
        wa = sinf((1.0f - t) * angle) * inverse;
        wb = sinf(t * angle) * inverse;
    }
    Quat q = {wa * a.w + wb * b.w, wa * a.v + wb * b.v};
    float n = rsqrtf(q.dot(q));
    return {n * q.w, n * q.v};
}

struct Transform {  // 32 bytes, as in the files
    Quat rotation;
    Vec3 offset;
    float scale;

    __device__ Transform operator*(const Transform &child) const {
        return {rotation * child.rotation, offset + scale * rotation(child.offset), scale * child.scale};
    }
};

constexpr int JOINTS = 64;

extern "C" __global__ void __launch_bounds__(JOINTS)
    skel_pose(const Transform *keys, const int *parents, const int *depths, const float *times, float4 *matrices,
              int frames, int joints, int levels) {
    __shared__ Transform world[JOINTS];
    int j = threadIdx.x, who = blockIdx.x;
    float at = times[who];
    int frame = min((int)at, frames - 2);
    float t = at - frame;
    int parent = -1, depth = 0;
    if (j < joints) {
        parent = parents[j];
        depth = depths[j];
        const Transform &a = keys[frame * joints + j], &b = keys[(frame + 1) * joints + j];
        world[j] = {slerp(a.rotation, b.rotation, t), (1.0f - t) * a.offset + t * b.offset,
                    a.scale + t * (b.scale - a.scale)};
    }
    __syncthreads();
    for (int level = 1; level < levels; level++) {
        if (j < joints && depth == level)
            world[j] = world[parent] * world[j];
        __syncthreads();
    }
    if (j < joints) {
        const Transform &m = world[j];
        Vec3 x = m.scale * m.rotation({1, 0, 0}), y = m.scale * m.rotation({0, 1, 0}),
             z = m.scale * m.rotation({0, 0, 1});
        float4 *out = matrices + 3ll * ((long long)who * joints + j);
        out[0] = make_float4(x.x, y.x, z.x, m.offset.x);
        out[1] = make_float4(x.y, y.y, z.y, m.offset.y);
        out[2] = make_float4(x.z, y.z, z.z, m.offset.z);
    }
}
