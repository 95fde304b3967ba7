// Which pairs of convex hulls overlap, by GJK: a pair a thread, the simplex in registers, support points by search.
struct Body {
    float3 position;
    float angle; // about z
    int first, count;
};

__device__ __forceinline__ float3 operator-(float3 a, float3 b) {
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}
__device__ __forceinline__ float3 operator-(float3 a) {
    return make_float3(-a.x, -a.y, -a.z);
}
__device__ __forceinline__ float dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
__device__ __forceinline__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ float3 support(const Body &body, const float3 *__restrict__ points, float3 d, float s, float c) {
    float3 local = make_float3(c * d.x + s * d.y, c * d.y - s * d.x, d.z);
    float best = -1e30f;
    int which = 0;
    for (int i = 0; i < body.count; i++) {
        float along = dot(points[body.first + i], local);
        if (along > best) {
            best = along;
            which = i;
        }
    }
    float3 p = points[body.first + which];
    return make_float3(body.position.x + c * p.x - s * p.y, body.position.y + s * p.x + c * p.y,
                       body.position.z + p.z);
}

struct Simplex {
    float3 a, b, c, d; // a is the newest
    int size;

    __device__ void line(float3 &dir) {
        float3 ab = b - a, ao = -a;
        if (dot(ab, ao) > 0) {
            size = 2;
            dir = cross(cross(ab, ao), ab);
        } else {
            size = 1;
            dir = ao;
        }
    }
    __device__ void triangle(float3 &dir) {
        float3 ab = b - a, ac = c - a, ao = -a, n = cross(ab, ac);
        if (dot(cross(n, ac), ao) > 0) {
            if (dot(ac, ao) > 0) {
                b = c;
                size = 2;
                dir = cross(cross(ac, ao), ac);
            } else {
                line(dir);
            }
        } else if (dot(cross(ab, n), ao) > 0) {
            line(dir);
        } else {
            size = 3;
            if (dot(n, ao) > 0) {
                dir = n;
            } else {
                float3 t = b;
                b = c;
                c = t;
                dir = -n;
            }
        }
    }
    __device__ bool next(float3 &dir) {
        switch (size) {
        case 2:
            line(dir);
            return false;
        case 3:
            triangle(dir);
            return false;
        case 4: {
            float3 ab = b - a, ac = c - a, ad = d - a, ao = -a;
            if (dot(cross(ab, ac), ao) > 0) {
                triangle(dir);
            } else if (dot(cross(ac, ad), ao) > 0) {
                b = c;
                c = d;
                triangle(dir);
            } else if (dot(cross(ad, ab), ao) > 0) {
                c = b;
                b = d;
                triangle(dir);
            } else {
                return true;
            }
            return false;
        }
        }
        return false;
    }
};

extern "C" __global__ void gjk(const Body *__restrict__ bodies, const float3 *__restrict__ points,
                               const int2 *__restrict__ pairs, unsigned char *__restrict__ hit, int n, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Body one = bodies[pairs[i].x], two = bodies[pairs[i].y];
    float s1, c1, s2, c2;
    sincosf(one.angle, &s1, &c1);
    sincosf(two.angle, &s2, &c2);
    float3 dir = two.position - one.position;
    Simplex simplex;
    simplex.a = support(one, points, dir, s1, c1) - support(two, points, -dir, s2, c2);
    simplex.size = 1;
    dir = -simplex.a;
    bool inside = false;
    for (int k = 0; k < most && !inside; k++) {
        float3 p = support(one, points, dir, s1, c1) - support(two, points, -dir, s2, c2);
        if (dot(p, dir) < 0)
            break;
        simplex.d = simplex.c;
        simplex.c = simplex.b;
        simplex.b = simplex.a;
        simplex.a = p;
        simplex.size++;
        inside = simplex.next(dir);
    }
    hit[i] = inside;
}
