// A path tracer: a room of five walls, open in front, with three balls (matt, mirror, glass) and a lamp; a thread for
// each pixel, whose paths end by chance, at the lamp, or outside, where the sky is.
struct Vec {
    float x, y, z;
};
__device__ Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ Vec operator*(Vec a, Vec b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
__device__ Vec operator*(Vec a, float k) { return {a.x * k, a.y * k, a.z * k}; }
__device__ float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ Vec cross(Vec a, Vec b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ Vec normalize(Vec a) { return a * rsqrtf(dot(a, a)); }

enum Kind { MATT, MIRROR, GLASS };

struct Sphere {
    Vec center;
    float radius;
    Vec color, light;
    Kind kind;
};
struct Plane {
    Vec normal;
    float distance;
    Vec color;
};

__constant__ Sphere spheres[4] = {
    {{-0.45f, -0.65f, -0.3f}, 0.35f, {0.9f, 0.9f, 0.9f}, {0, 0, 0}, MIRROR},
    {{0.45f, -0.65f, 0.35f}, 0.35f, {0.98f, 0.98f, 0.98f}, {0, 0, 0}, GLASS},
    {{0.1f, -0.8f, -0.6f}, 0.2f, {0.8f, 0.6f, 0.2f}, {0, 0, 0}, MATT},
    {{0.0f, 1.3f, 0.0f}, 0.6f, {0, 0, 0}, {4, 3.5f, 3}, MATT},
};
__constant__ Plane planes[5] = {
    {{1, 0, 0}, -1, {0.75f, 0.2f, 0.2f}},   {{-1, 0, 0}, -1, {0.2f, 0.7f, 0.25f}},
    {{0, 1, 0}, -1, {0.75f, 0.75f, 0.75f}}, {{0, -1, 0}, -1, {0.75f, 0.75f, 0.75f}},
    {{0, 0, 1}, -1, {0.7f, 0.7f, 0.75f}},
};

__device__ float random(unsigned &state) {
    state = state * 747796405u + 2891336453u;
    unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    return (((word >> 22) ^ word) >> 8) * (1.0f / 16777216.0f);
}

__device__ float hit_sphere(const Sphere &s, Vec origin, Vec direction) {
    Vec to = s.center - origin;
    float b = dot(to, direction);
    float det = b * b - dot(to, to) + s.radius * s.radius;
    if (det < 0.0f)
        return 1e20f;
    det = sqrtf(det);
    if (b - det > 1e-3f)
        return b - det;
    if (b + det > 1e-3f)
        return b + det;
    return 1e20f;
}

__device__ Vec radiance(Vec origin, Vec direction, unsigned &state, int max_depth) {
    Vec sum = {0, 0, 0}, weight = {1, 1, 1};
    for (int depth = 0; depth < max_depth; depth++) {
        float t = 1e20f;
        int ball = -1, wall = -1;
        for (int i = 0; i < 4; i++) {
            float d = hit_sphere(spheres[i], origin, direction);
            if (d < t) {
                t = d;
                ball = i;
            }
        }
        for (int i = 0; i < 5; i++) {
            float cosine = dot(planes[i].normal, direction);
            if (cosine >= 0.0f)
                continue;
            float d = (planes[i].distance - dot(planes[i].normal, origin)) / cosine;
            if (d > 1e-3f && d < t) {
                t = d;
                wall = i;
            }
        }
        if (t >= 1e20f || origin.z + t * direction.z > 1.0f) {
            sum = sum + weight * Vec{0.25f, 0.3f, 0.35f};
            break;
        }
        Vec at = origin + direction * t;
        Vec normal, color;
        Kind kind = MATT;
        if (wall >= 0) {
            normal = planes[wall].normal;
            color = planes[wall].color;
        } else {
            const Sphere &s = spheres[ball];
            normal = (at - s.center) * (1.0f / s.radius);
            color = s.color;
            kind = s.kind;
            sum = sum + weight * s.light;
            if (s.light.x > 0.0f)
                break;
        }
        weight = weight * color;
        if (depth > 2) {
            float p = fmaxf(weight.x, fmaxf(weight.y, weight.z));
            if (random(state) >= p)
                break;
            weight = weight * (1.0f / p);
        }
        Vec facing = dot(normal, direction) < 0.0f ? normal : normal * -1.0f;
        origin = at;
        if (kind == MATT) {
            float phi = 6.2831853f * random(state);
            float r2 = random(state), r = sqrtf(r2);
            Vec helper = fabsf(facing.x) > 0.1f ? Vec{0, 1, 0} : Vec{1, 0, 0};
            Vec u = normalize(cross(helper, facing)), v = cross(facing, u);
            direction = normalize(u * (cosf(phi) * r) + v * (sinf(phi) * r) + facing * sqrtf(1.0f - r2));
        } else if (kind == MIRROR) {
            direction = direction - normal * (2.0f * dot(normal, direction));
        } else {
            Vec reflected = direction - normal * (2.0f * dot(normal, direction));
            bool entering = dot(normal, facing) > 0.0f;
            float ratio = entering ? 1.0f / 1.5f : 1.5f;
            float cosine = -dot(direction, facing);
            float cos2 = 1.0f - ratio * ratio * (1.0f - cosine * cosine);
            if (cos2 < 0.0f) {
                direction = reflected;
                continue;
            }
            float out = sqrtf(cos2);
            float c = 1.0f - (entering ? cosine : out);
            float fresnel = 0.04f + 0.96f * c * c * c * c * c;
            if (random(state) < fresnel)
                direction = reflected;
            else
                direction = normalize(direction * ratio + facing * (ratio * cosine - out));
        }
    }
    return sum;
}

extern "C" __global__ void cornell(float *image, int width, int height, int samples, int max_depth, unsigned seed) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    unsigned state = (y * width + x) * 9781u + seed;
    Vec eye = {0, 0, 3.2f};
    Vec sum = {0, 0, 0};
    for (int s = 0; s < samples; s++) {
        float px = (2.0f * (x + random(state)) - width) / height;
        float py = (height - 2.0f * (y + random(state))) / height;
        Vec direction = normalize(Vec{px, py, -3.0f});
        sum = sum + radiance(eye, direction, state, max_depth);
    }
    int at = 3 * (y * width + x);
    image[at] = fminf(sum.x / samples, 1.0f);
    image[at + 1] = fminf(sum.y / samples, 1.0f);
    image[at + 2] = fminf(sum.z / samples, 1.0f);
}
