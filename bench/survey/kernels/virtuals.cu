// Distances to a scene of classes with virtual functions, which each thread constructs and marches its ray along.
#include <new>

class Shape {
public:
    __device__ virtual float distance(float x, float y, float z) const = 0;
    __device__ virtual float shade() const { return 1.0f; }
};

class Sphere : public Shape {
    float cx, cy, cz, r;

public:
    __device__ Sphere(const float *p) : cx(p[0]), cy(p[1]), cz(p[2]), r(p[3]) {}
    __device__ float distance(float x, float y, float z) const override {
        float dx = x - cx, dy = y - cy, dz = z - cz;
        return sqrtf(dx * dx + dy * dy + dz * dz) - r;
    }
};

class Box : public Shape {
    float cx, cy, cz, half;

public:
    __device__ Box(const float *p) : cx(p[0]), cy(p[1]), cz(p[2]), half(p[3]) {}
    __device__ float distance(float x, float y, float z) const override {
        float qx = fabsf(x - cx) - half, qy = fabsf(y - cy) - half, qz = fabsf(z - cz) - half;
        float ox = fmaxf(qx, 0.0f), oy = fmaxf(qy, 0.0f), oz = fmaxf(qz, 0.0f);
        return sqrtf(ox * ox + oy * oy + oz * oz) + fminf(fmaxf(qx, fmaxf(qy, qz)), 0.0f);
    }
    __device__ float shade() const override { return 0.7f; }
};

class Floor : public Shape {
    float level;

public:
    __device__ Floor(const float *p) : level(p[1]) {}
    __device__ float distance(float x, float y, float z) const override { return y - level; }
    __device__ float shade() const override { return 0.3f; }
};

#define MAX_SHAPES 6

struct alignas(8) Storage {
    char bytes[sizeof(Sphere) > sizeof(Box) ? sizeof(Sphere) : sizeof(Box)];
};

extern "C" __global__ void virtuals(const int *__restrict__ kinds, const float *__restrict__ parameters, int shapes,
                                    float *image, int width, int height, int max_steps) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;

    Storage storage[MAX_SHAPES];
    Shape *scene[MAX_SHAPES];
    for (int s = 0; s < shapes; s++) {
        const float *p = parameters + 4 * s;
        if (kinds[s] == 0)
            scene[s] = new (storage[s].bytes) Sphere(p);
        else if (kinds[s] == 1)
            scene[s] = new (storage[s].bytes) Box(p);
        else
            scene[s] = new (storage[s].bytes) Floor(p);
    }

    float dx = (px + 0.5f) / width - 0.5f, dy = 0.4f - (py + 0.5f) / height, dz = 1.0f;
    float inv = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz);
    dx *= inv;
    dy *= inv;
    dz *= inv;
    float t = 0.0f, colour = 0.0f;
    for (int step = 0; step < max_steps && t < 20.0f; step++) {
        float nearest = 1e30f;
        Shape *hit = nullptr;
        for (int s = 0; s < shapes; s++) {
            float d = scene[s]->distance(t * dx, t * dy, t * dz);
            if (d < nearest) {
                nearest = d;
                hit = scene[s];
            }
        }
        if (nearest < 1e-3f) {
            colour = hit->shade() / (1.0f + 0.1f * t);
            break;
        }
        t += nearest;
    }
    image[py * width + px] = colour;
}
