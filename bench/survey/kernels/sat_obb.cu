// Turned boxes against each other by 15 separating axes: structures of 40 bytes with quaternions; contacts (the axis
// of least depth) are appended in the order of warps.
struct Quat {
    float x, y, z, w;
};

struct Box {
    float3 centre, half_size;
    Quat turn;
};

struct __align__(16) Contact {
    int pair, axis;
    float depth, side;
};

struct Axes {
    float3 v[3];
    __device__ const float3 &operator[](int i) const { return v[i]; }
};

__device__ __forceinline__ float dot(const float3 &a, const float3 &b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ __forceinline__ float at(const float3 &v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

__device__ Axes axes_of(const Quat &q) {
    float x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    float xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2, yz = q.y * z2, wx = q.w * x2,
          wy = q.w * y2, wz = q.w * z2;
    return {{make_float3(1.0f - yy - zz, xy + wz, xz - wy), make_float3(xy - wz, 1.0f - xx - zz, yz + wx),
             make_float3(xz + wy, yz - wx, 1.0f - xx - yy)}};
}

struct Least {
    float depth = 1e30f, side = 0.0f;
    int axis = -1;

    // false if the axis separates
    __device__ bool consider(int which, float distance, float reach, float length) {
        float depth_here = reach - fabsf(distance);
        if (depth_here < 0.0f)
            return false;
        depth_here /= length;
        if (depth_here < depth) {
            depth = depth_here;
            side = distance < 0.0f ? -1.0f : 1.0f;
            axis = which;
        }
        return true;
    }
};

__device__ bool touch(const Box &a, const Box &b, Least *least) {
    Axes A = axes_of(a.turn), B = axes_of(b.turn);
    float R[3][3], S[3][3];
    float3 d = make_float3(b.centre.x - a.centre.x, b.centre.y - a.centre.y, b.centre.z - a.centre.z);
    float t[3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        t[i] = dot(d, A[i]);
#pragma unroll
        for (int j = 0; j < 3; j++) {
            R[i][j] = dot(A[i], B[j]);
            S[i][j] = fabsf(R[i][j]);
        }
    }
    const float3 &p = a.half_size, &q = b.half_size;
    for (int i = 0; i < 3; i++)
        if (!least->consider(i, t[i], at(p, i) + q.x * S[i][0] + q.y * S[i][1] + q.z * S[i][2], 1.0f))
            return false;
    for (int j = 0; j < 3; j++)
        if (!least->consider(3 + j, dot(d, B[j]), at(q, j) + p.x * S[0][j] + p.y * S[1][j] + p.z * S[2][j], 1.0f))
            return false;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            float length2 = 1.0f - R[i][j] * R[i][j];
            if (length2 < 1e-4f)
                continue;
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            float reach = at(p, i1) * S[i2][j] + at(p, i2) * S[i1][j] + at(q, j1) * S[i][j2] + at(q, j2) * S[i][j1];
            if (!least->consider(6 + 3 * i + j, t[i2] * R[i1][j] - t[i1] * R[i2][j], reach, sqrtf(length2)))
                return false;
        }
    return true;
}

extern "C" __global__ void sat_obb(const Box *__restrict__ boxes, const int2 *__restrict__ pairs, Contact *contacts,
                                   unsigned int *count, int n) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    bool hit = false;
    Least least;
    if (id < n) {
        int2 pair = pairs[id];
        hit = touch(boxes[pair.x], boxes[pair.y], &least);
    }
    unsigned int hits = __ballot_sync(0xffffffffu, hit), lane = threadIdx.x & 31, first = 0;
    if (lane == 0 && hits)
        first = atomicAdd(count, __popc(hits));
    first = __shfl_sync(0xffffffffu, first, 0);
    if (hit) {
        Contact c = {id, least.axis, least.depth, least.side};
        contacts[first + __popc(hits & ((1u << lane) - 1))] = c;
    }
}

extern "C" __global__ void sat_impulse(const Contact *__restrict__ contacts, const unsigned int *__restrict__ count,
                                       const int2 *__restrict__ pairs, const Box *__restrict__ boxes,
                                       float4 *__restrict__ pushes) {
    for (unsigned int k = blockIdx.x * blockDim.x + threadIdx.x; k < *count; k += gridDim.x * blockDim.x) {
        Contact c = contacts[k];
        int2 pair = pairs[c.pair];
        Axes A = axes_of(boxes[pair.x].turn), B = axes_of(boxes[pair.y].turn);
        float3 n;
        if (c.axis < 3) {
            n = A[c.axis];
        } else if (c.axis < 6) {
            n = B[c.axis - 3];
        } else {
            float3 u = A[(c.axis - 6) / 3], v = B[(c.axis - 6) % 3];
            n = make_float3(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
            float s = rsqrtf(dot(n, n));
            n = make_float3(n.x * s, n.y * s, n.z * s);
        }
        float s = c.side * c.depth;
        pushes[c.pair] = make_float4(s * n.x, s * n.y, s * n.z, (float)(c.axis + 1));
    }
}
