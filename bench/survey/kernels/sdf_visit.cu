// A plane of shapes as signed distances: records become std::variants in shared memory, which a visitor asks for
// their distances; smooth unions and cuts, and an edge of some pixels' width.
#include <cuda/std/cmath>
#include <cuda/std/utility>
#include <cuda/std/variant>
#include <new>

struct Circle {
    float2 center;
    float radius;
};
struct Box {
    float2 center, half;
    float corner;
};
struct Capsule {
    float2 from, to;
    float radius;
};
struct Ring {
    float2 center;
    float radius, width;
};

using Shape = cuda::std::variant<Circle, Box, Capsule, Ring>;

struct Record {  // 32 bytes
    int kind, cut;
    float p[5], tone;
};

template <class... F> struct overloaded : F... {
    using F::operator()...;
};
template <class... F> overloaded(F...) -> overloaded<F...>;

__device__ Shape decoded(const Record &r) {
    float2 c = make_float2(r.p[0], r.p[1]);
    switch (r.kind) {
    case 0:
        return Circle{c, r.p[2]};
    case 1:
        return Box{c, make_float2(r.p[2], r.p[3]), r.p[4]};
    case 2:
        return Capsule{c, make_float2(r.p[2], r.p[3]), r.p[4]};
    default:
        return Ring{c, r.p[2], r.p[3]};
    }
}

__device__ float length2(float x, float y) { return sqrtf(x * x + y * y); }

__device__ float distance(const Shape &shape, float2 p) {
    return cuda::std::visit(
        overloaded{
            [=](const Circle &s) { return length2(p.x - s.center.x, p.y - s.center.y) - s.radius; },
            [=](const Box &s) {
                float x = fabsf(p.x - s.center.x) - s.half.x + s.corner;
                float y = fabsf(p.y - s.center.y) - s.half.y + s.corner;
                return length2(fmaxf(x, 0.0f), fmaxf(y, 0.0f)) + fminf(fmaxf(x, y), 0.0f) - s.corner;
            },
            [=](const Capsule &s) {
                float ax = p.x - s.from.x, ay = p.y - s.from.y, bx = s.to.x - s.from.x, by = s.to.y - s.from.y;
                float h = __saturatef((ax * bx + ay * by) / (bx * bx + by * by));
                return length2(ax - h * bx, ay - h * by) - s.radius;
            },
            [=](const Ring &s) {
                return fabsf(length2(p.x - s.center.x, p.y - s.center.y) - s.radius) - s.width;
            },
        },
        shape);
}

constexpr int MOST = 32;

extern "C" __global__ void sdf_visit(const Record *__restrict__ records, float *__restrict__ image, int count,
                                     int width, int height, float blend) {
    __shared__ alignas(Shape) unsigned char room[MOST * sizeof(Shape)];
    __shared__ float tones[MOST];
    __shared__ bool cuts[MOST];
    Shape *shapes = reinterpret_cast<Shape *>(room);
    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    if (tid < count) {
        new (&shapes[tid]) Shape(decoded(records[tid]));
        tones[tid] = records[tid].tone;
        cuts[tid] = records[tid].cut != 0;
    }
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float2 p = make_float2(x + 0.5f, y + 0.5f);
    float whole = 1e9f, tone = 0.0f;
    for (int i = 0; i < count; i++) {
        float d = distance(shapes[i], p);
        if (cuts[i]) {
            whole = fmaxf(whole, -d);
        } else {
            float h = __saturatef(0.5f + 0.5f * (whole - d) / blend);
            whole += h * (d - whole) - blend * h * (1.0f - h);
            tone += h * (tones[i] - tone);
        }
    }
    float cover = __saturatef(0.5f - whole);
    image[y * width + x] = cover * tone + (1.0f - cover) * 0.1f;
}
