// Contact manifolds of boxes: the reference face of one box, the incident face of the other clipped against its four
// sides (Sutherland and Hodgman), points below the face kept, and of more than four the deepest and the widest.
struct Box {
    float3 center;
    float3 half;
    float4 q;
};

struct Contact {
    float x, y, z, depth;
};

__device__ __forceinline__ float3 operator+(float3 a, float3 b) {
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
__device__ __forceinline__ float3 operator-(float3 a, float3 b) {
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}
__device__ __forceinline__ float3 operator*(float s, float3 a) {
    return make_float3(s * a.x, s * a.y, s * a.z);
}
__device__ __forceinline__ float dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

struct Mat3 {
    float3 col[3];
};

__device__ Mat3 rotation(float4 q) {
    Mat3 m;
    float xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    m.col[0] = make_float3(1 - 2 * (yy + zz), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y));
    m.col[1] = make_float3(2 * (q.x * q.y - q.w * q.z), 1 - 2 * (xx + zz), 2 * (q.y * q.z + q.w * q.x));
    m.col[2] = make_float3(2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (xx + yy));
    return m;
}

__device__ int clip(const float3 *in, int count, float3 *out, float3 normal, float offset) {
    int made = 0;
    float3 a = in[count - 1];
    float da = dot(a, normal) - offset;
    for (int i = 0; i < count; i++) {
        float3 b = in[i];
        float db = dot(b, normal) - offset;
        if ((da <= 0) != (db <= 0))
            out[made++] = a + (da / (da - db)) * (b - a);
        if (db <= 0)
            out[made++] = b;
        a = b;
        da = db;
    }
    return made;
}

__device__ float axis_of(const float3 &v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

extern "C" __global__ void clip_faces(const Box *boxes, const int2 *pairs, Contact *contacts, float4 *normals,
                                      int *counts, int n) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    const Box a = boxes[pairs[p].x], b = boxes[pairs[p].y];
    const Mat3 ra = rotation(a.q), rb = rotation(b.q);
    const float3 d = b.center - a.center;

    // the face of a with the least penetration
    int best = -1;
    float least = 1e30f;
    for (int i = 0; i < 3; i++) {
        float reach = axis_of(a.half, i);
        for (int j = 0; j < 3; j++)
            reach += axis_of(b.half, j) * fabsf(dot(ra.col[i], rb.col[j]));
        float depth = reach - fabsf(dot(d, ra.col[i]));
        if (depth < 0) {
            counts[p] = 0;
            normals[p] = make_float4(0, 0, 0, 0);
            return;
        }
        if (depth < least) {
            least = depth;
            best = i;
        }
    }
    float3 normal = ra.col[best];
    if (dot(d, normal) < 0)
        normal = -1.0f * normal;

    // the face of b that looks most against it
    int face = 0;
    float most = 0;
    for (int j = 0; j < 3; j++) {
        float s = dot(normal, rb.col[j]);
        if (fabsf(s) > fabsf(most)) {
            most = s;
            face = j;
        }
    }
    float sign = most > 0 ? -1.0f : 1.0f;
    float3 mid = b.center + (sign * axis_of(b.half, face)) * rb.col[face];
    float3 u = axis_of(b.half, (face + 1) % 3) * rb.col[(face + 1) % 3];
    float3 v = axis_of(b.half, (face + 2) % 3) * rb.col[(face + 2) % 3];
    float3 poly[2][12];
    poly[0][0] = mid - u - v;
    poly[0][1] = mid + u - v;
    poly[0][2] = mid + u + v;
    poly[0][3] = mid - u + v;
    int count = 4, now = 0;
    for (int side = 0; side < 4 && count > 0; side++) {
        int axis = (best + 1 + (side >> 1)) % 3;
        float3 out = (side & 1 ? -1.0f : 1.0f) * ra.col[axis];
        count = clip(poly[now], count, poly[now ^ 1], out, dot(a.center, out) + axis_of(a.half, axis));
        now ^= 1;
    }

    float plane = dot(a.center, normal) + axis_of(a.half, best);
    Contact kept[12];
    int keep = 0;
    for (int i = 0; i < count; i++) {
        float depth = plane - dot(poly[now][i], normal);
        if (depth >= 0)
            kept[keep++] = {poly[now][i].x, poly[now][i].y, poly[now][i].z, depth};
    }
    // of many points the deepest, then those farthest from all that were chosen
    if (keep > 4) {
        for (int c = 0; c < 4; c++) {
            int pick = c;
            float value = -1.0f;
            for (int i = c; i < keep; i++) {
                float score;
                if (c == 0) {
                    score = kept[i].depth;
                } else {
                    score = 1e30f;
                    for (int k = 0; k < c; k++) {
                        float dx = kept[i].x - kept[k].x, dy = kept[i].y - kept[k].y, dz = kept[i].z - kept[k].z;
                        score = fminf(score, dx * dx + dy * dy + dz * dz);
                    }
                }
                if (score > value) {
                    value = score;
                    pick = i;
                }
            }
            Contact t = kept[c];
            kept[c] = kept[pick];
            kept[pick] = t;
        }
        keep = 4;
    }
    for (int i = 0; i < keep; i++)
        contacts[4 * p + i] = kept[i];
    counts[p] = keep;
    normals[p] = make_float4(normal.x, normal.y, normal.z, least);
}
