// A solid of spheres, boxes and rings that are joined and cut, marched through by rays: the tree is made by each thread
// out of objects of classes with virtual functions, from a list in postfix order.
#include <new>

struct vec3 {
    float x, y, z;
    __device__ vec3(float a = 0.0f, float b = 0.0f, float c = 0.0f) : x(a), y(b), z(c) {}
};
__device__ vec3 operator+(vec3 a, vec3 b) { return vec3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ vec3 operator-(vec3 a, vec3 b) { return vec3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ vec3 operator*(float s, vec3 a) { return vec3(s * a.x, s * a.y, s * a.z); }
__device__ float length(vec3 a) { return sqrtf(a.x * a.x + a.y * a.y + a.z * a.z); }

class Solid {
  public:
    __device__ virtual float distance(vec3 p) const = 0;
};

class Sphere : public Solid {
    vec3 centre;
    float radius;

  public:
    __device__ Sphere(vec3 c, float r) : centre(c), radius(r) {}
    __device__ float distance(vec3 p) const override { return length(p - centre) - radius; }
};

class Box : public Solid {
    vec3 centre;
    float half;

  public:
    __device__ Box(vec3 c, float h) : centre(c), half(h) {}
    __device__ float distance(vec3 p) const override {
        vec3 d = p - centre;
        vec3 q(fabsf(d.x) - half, fabsf(d.y) - half, fabsf(d.z) - half);
        vec3 outside(fmaxf(q.x, 0.0f), fmaxf(q.y, 0.0f), fmaxf(q.z, 0.0f));
        return length(outside) + fminf(fmaxf(q.x, fmaxf(q.y, q.z)), 0.0f);
    }
};

class Ring : public Solid {
    vec3 centre;
    float radius;

  public:
    __device__ Ring(vec3 c, float r) : centre(c), radius(r) {}
    __device__ float distance(vec3 p) const override {
        vec3 d = p - centre;
        float around = sqrtf(d.x * d.x + d.z * d.z) - radius;
        return sqrtf(around * around + d.y * d.y) - 0.25f * radius;
    }
};

class Pair : public Solid {
  protected:
    const Solid *a, *b;

  public:
    __device__ Pair(const Solid *l, const Solid *r) : a(l), b(r) {}
};

class Union : public Pair {
  public:
    using Pair::Pair;
    __device__ float distance(vec3 p) const override { return fminf(a->distance(p), b->distance(p)); }
};

class Difference : public Pair {
  public:
    using Pair::Pair;
    __device__ float distance(vec3 p) const override { return fmaxf(a->distance(p), -b->distance(p)); }
};

class Blend : public Pair {
    float k;

  public:
    __device__ Blend(const Solid *l, const Solid *r, float width) : Pair(l, r), k(width) {}
    __device__ float distance(vec3 p) const override {
        float da = a->distance(p), db = b->distance(p);
        float h = fmaxf(k - fabsf(da - db), 0.0f) / k;
        return fminf(da, db) - h * h * k * 0.25f;
    }
};

enum Kind { SPHERE, BOX, RING, UNION, DIFFERENCE, BLEND };
#define MOST 16

struct Part {
    int kind;
    float x, y, z, size;
};

extern "C" __global__ void csgtree(const Part *__restrict__ parts, int count, float *__restrict__ depth,
                                   unsigned char *__restrict__ steps, int width, int height, float far_off) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    alignas(16) char memory[MOST][32];
    const Solid *stack[MOST];
    int top = 0;
    for (int i = 0; i < count; i++) {
        Part part = parts[i];
        vec3 centre(part.x, part.y, part.z);
        void *place = memory[i];
        switch (part.kind) {
        case SPHERE: stack[top++] = new (place) Sphere(centre, part.size); break;
        case BOX: stack[top++] = new (place) Box(centre, part.size); break;
        case RING: stack[top++] = new (place) Ring(centre, part.size); break;
        case UNION: top--; stack[top - 1] = new (place) Union(stack[top - 1], stack[top]); break;
        case DIFFERENCE: top--; stack[top - 1] = new (place) Difference(stack[top - 1], stack[top]); break;
        case BLEND: top--; stack[top - 1] = new (place) Blend(stack[top - 1], stack[top], part.size); break;
        }
    }
    const Solid *root = stack[0];
    vec3 eye(0.0f, 0.0f, -4.0f);
    vec3 way((px + 0.5f - 0.5f * width) / height, (py + 0.5f - 0.5f * height) / height, 1.2f);
    way = (1.0f / length(way)) * way;
    float t = 0.0f;
    int k = 0;
    for (; k < 48; k++) {
        float d = root->distance(eye + t * way);
        if (d < 1e-3f)
            break;
        t += d;
        if (t > far_off) {
            t = far_off;
            break;
        }
    }
    depth[py * width + px] = t;
    steps[py * width + px] = k;
}
