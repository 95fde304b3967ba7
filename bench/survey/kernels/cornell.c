#include "native.h"

typedef struct {
    float x, y, z;
} Vec;

static inline Vec plus(Vec a, Vec b) { return (Vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline Vec minus(Vec a, Vec b) { return (Vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline Vec by(Vec a, Vec b) { return (Vec){a.x * b.x, a.y * b.y, a.z * b.z}; }
static inline Vec times(Vec a, float k) { return (Vec){a.x * k, a.y * k, a.z * k}; }
static inline float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline Vec cross(Vec a, Vec b) {
    return (Vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline Vec normalize(Vec a) { return times(a, 1 / sqrtf(dot(a, a))); }

enum { MATT, MIRROR, GLASS };

typedef struct {
    Vec center;
    float radius;
    Vec color, light;
    int kind;
} Sphere;
typedef struct {
    Vec normal;
    float distance;
    Vec color;
} Plane;

static const Sphere spheres[4] = {
    {{-0.45f, -0.65f, -0.3f}, 0.35f, {0.9f, 0.9f, 0.9f}, {0, 0, 0}, MIRROR},
    {{0.45f, -0.65f, 0.35f}, 0.35f, {0.98f, 0.98f, 0.98f}, {0, 0, 0}, GLASS},
    {{0.1f, -0.8f, -0.6f}, 0.2f, {0.8f, 0.6f, 0.2f}, {0, 0, 0}, MATT},
    {{0.0f, 1.3f, 0.0f}, 0.6f, {0, 0, 0}, {4, 3.5f, 3}, MATT},
};
static const Plane planes[5] = {
    {{1, 0, 0}, -1, {0.75f, 0.2f, 0.2f}},   {{-1, 0, 0}, -1, {0.2f, 0.7f, 0.25f}},
    {{0, 1, 0}, -1, {0.75f, 0.75f, 0.75f}}, {{0, -1, 0}, -1, {0.75f, 0.75f, 0.75f}},
    {{0, 0, 1}, -1, {0.7f, 0.7f, 0.75f}},
};

static inline float chance(uint *state) {
    uint s = *state = *state * 747796405u + 2891336453u;
    uint word = (s >> ((s >> 28) + 4) ^ s) * 277803737u;
    return (int)((word >> 22 ^ word) >> 8) * (1.0f / 16777216);
}

static inline float hit_sphere(const Sphere *s, Vec origin, Vec direction) {
    Vec to = minus(s->center, origin);
    float b = dot(to, direction), det = b * b - dot(to, to) + s->radius * s->radius;
    if (det < 0)
        return 1e20f;
    det = sqrtf(det);
    return b - det > 1e-3f ? b - det : b + det > 1e-3f ? b + det : 1e20f;
}

static Vec radiance(Vec origin, Vec direction, uint *state, int max_depth) {
    Vec sum = {0, 0, 0}, weight = {1, 1, 1};
    for (int depth = 0; depth < max_depth; depth++) {
        float t = 1e20f;
        int ball = -1, wall = -1;
        for (int i = 0; i < 4; i++) {
            float d = hit_sphere(spheres + i, origin, direction);
            if (d < t) {
                t = d;
                ball = i;
            }
        }
        for (int i = 0; i < 5; i++) {
            float cosine = dot(planes[i].normal, direction);
            if (cosine >= 0)
                continue;
            float d = (planes[i].distance - dot(planes[i].normal, origin)) / cosine;
            if (d > 1e-3f && d < t) {
                t = d;
                wall = i;
            }
        }
        if (t >= 1e20f || origin.z + t * direction.z > 1.0f) {
            sum = plus(sum, by(weight, (Vec){0.25f, 0.3f, 0.35f}));
            break;
        }
        Vec at = plus(origin, times(direction, t)), normal, color;
        int kind = MATT;
        if (wall >= 0) {
            normal = planes[wall].normal;
            color = planes[wall].color;
        } else {
            const Sphere *s = spheres + ball;
            normal = times(minus(at, s->center), 1 / s->radius);
            color = s->color;
            kind = s->kind;
            sum = plus(sum, by(weight, s->light));
            if (s->light.x > 0)
                break;
        }
        weight = by(weight, color);
        if (depth > 2) {
            float p = MAX(weight.x, MAX(weight.y, weight.z));
            if (chance(state) >= p)
                break;
            weight = times(weight, 1 / p);
        }
        float along = dot(normal, direction);
        Vec facing = along < 0 ? normal : times(normal, -1);
        origin = at;
        if (kind == MATT) {
            float phi = 6.2831853f * chance(state), r2 = chance(state), r = sqrtf(r2);
            Vec helper = fabsf(facing.x) > 0.1f ? (Vec){0, 1, 0} : (Vec){1, 0, 0};
            Vec u = normalize(cross(helper, facing)), v = cross(facing, u);
            Vec flat = plus(times(u, cosf(phi) * r), times(v, sinf(phi) * r));
            direction = normalize(plus(flat, times(facing, sqrtf(1 - r2))));
        } else if (kind == MIRROR) {
            direction = minus(direction, times(normal, 2 * along));
        } else {
            Vec reflected = minus(direction, times(normal, 2 * along));
            int entering = along < 0;
            float ratio = entering ? 1 / 1.5f : 1.5f, cosine = fabsf(along);
            float cos2 = 1 - ratio * ratio * (1 - cosine * cosine);
            if (cos2 < 0) {
                direction = reflected;
                continue;
            }
            float out = sqrtf(cos2), c = 1 - (entering ? cosine : out), c2 = c * c;
            if (chance(state) < 0.04f + 0.96f * c2 * c2 * c)
                direction = reflected;
            else
                direction = normalize(plus(times(direction, ratio), times(facing, ratio * cosine - out)));
        }
    }
    return sum;
}

void run(float *restrict image, int width, int height, int samples, int max_depth, uint seed) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            uint state = (y * width + x) * 9781u + seed;
            Vec sum = {0, 0, 0};
            for (int s = 0; s < samples; s++) {
                float px = (2 * (x + chance(&state)) - width) / height;
                float py = (height - 2 * (y + chance(&state))) / height;
                Vec light = radiance((Vec){0, 0, 3.2f}, normalize((Vec){px, py, -3}), &state, max_depth);
                sum = plus(sum, light);
            }
            float *out = image + 3 * (y * width + x);
            out[0] = MIN(sum.x / samples, 1);
            out[1] = MIN(sum.y / samples, 1);
            out[2] = MIN(sum.z / samples, 1);
        }
}
