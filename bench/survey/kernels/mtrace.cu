// A picture of triangles by Moller and Trumbore's test, with one lamp, shadows and a floor of squares; a thread a
// pixel, which asks all triangles.
class Vec {
  public:
    float x, y, z;
    __device__ Vec() : x(0), y(0), z(0) {}
    __device__ Vec(float a, float b, float c) : x(a), y(b), z(c) {}
    __device__ Vec operator+(const Vec &o) const { return Vec(x + o.x, y + o.y, z + o.z); }
    __device__ Vec operator-(const Vec &o) const { return Vec(x - o.x, y - o.y, z - o.z); }
    __device__ Vec operator*(float s) const { return Vec(x * s, y * s, z * s); }
    __device__ float dot(const Vec &o) const { return x * o.x + y * o.y + z * o.z; }
    __device__ Vec cross(const Vec &o) const {
        return Vec(y * o.z - z * o.y, z * o.x - x * o.z, x * o.y - y * o.x);
    }
    __device__ Vec normalized() const {
        float l = sqrt(x * x + y * y + z * z);
        return Vec(x / l, y / l, z / l);
    }
};

struct Triangle {
    float a[3], b[3], c[3];
    unsigned char color[4];
};

struct Hit {
    float t;
    int index; // -1: none, -2: the floor
};

__device__ bool intersect(const Triangle &tri, const Vec &origin, const Vec &dir, float &t) {
    Vec a(tri.a[0], tri.a[1], tri.a[2]), b(tri.b[0], tri.b[1], tri.b[2]), c(tri.c[0], tri.c[1], tri.c[2]);
    Vec e1 = b - a, e2 = c - a;
    Vec p = dir.cross(e2);
    float det = e1.dot(p);
    if (fabs(det) < 1e-7)
        return false;
    float inv = 1.0f / det;
    Vec s = origin - a;
    float u = s.dot(p) * inv;
    if (u < 0 || u > 1)
        return false;
    Vec q = s.cross(e1);
    float v = dir.dot(q) * inv;
    if (v < 0 || u + v > 1)
        return false;
    t = e2.dot(q) * inv;
    return t > 1e-3f;
}

__device__ Hit trace(const Triangle *tris, int n, const Vec &origin, const Vec &dir) {
    Hit hit = {1e30f, -1};
    for (int i = 0; i < n; i++) {
        float t;
        if (intersect(tris[i], origin, dir, t) && t < hit.t) {
            hit.t = t;
            hit.index = i;
        }
    }
    if (dir.y < 0) {
        float t = -origin.y / dir.y;
        if (t > 1e-3f && t < hit.t) {
            hit.t = t;
            hit.index = -2;
        }
    }
    return hit;
}

__device__ bool in_shadow(const Triangle *tris, int n, const Vec &origin, const Vec &dir, float far) {
    for (int i = 0; i < n; i++) {
        float t;
        if (intersect(tris[i], origin, dir, t) && t < far)
            return true;
    }
    return false;
}

extern "C" __global__ void mtrace(const Triangle *tris, int n, float4 *image, int w, int h) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    Vec eye(0.0f, 2.0f, -6.0f), lamp(4.0f, 7.0f, -3.0f);
    Vec dir = Vec((px - w * 0.5f) / h, (h * 0.45f - py) / h, 1.0f).normalized();
    Hit hit = trace(tris, n, eye, dir);
    Vec color(0.5f, 0.7f, 1.0f);
    if (hit.index != -1) {
        Vec at = eye + dir * hit.t, normal;
        if (hit.index == -2) {
            normal = Vec(0, 1, 0);
            int odd = ((int)floorf(at.x) + (int)floorf(at.z)) & 1;
            color = odd ? Vec(0.9f, 0.9f, 0.9f) : Vec(0.2f, 0.2f, 0.2f);
        } else {
            const Triangle &tri = tris[hit.index];
            Vec a(tri.a[0], tri.a[1], tri.a[2]), b(tri.b[0], tri.b[1], tri.b[2]), c(tri.c[0], tri.c[1], tri.c[2]);
            normal = (b - a).cross(c - a).normalized();
            if (normal.dot(dir) > 0)
                normal = normal * -1.0f;
            color = Vec(tri.color[0] / 255.0f, tri.color[1] / 255.0f, tri.color[2] / 255.0f);
        }
        Vec to_lamp = lamp - at;
        float distance = sqrt(to_lamp.dot(to_lamp));
        to_lamp = to_lamp * (1.0f / distance);
        float light = 0.15f;
        float facing = normal.dot(to_lamp);
        if (facing > 0 && !in_shadow(tris, n, at + normal * 1e-3f, to_lamp, distance))
            light += 0.85f * facing;
        color = color * light;
    }
    image[py * w + px] = make_float4(color.x, color.y, color.z, 1.0f);
}
