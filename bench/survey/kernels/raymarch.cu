// A scene of distance functions: each pixel's ray goes on by the distance to what is nearest, then its shadow's.
__device__ float box(float3 p, float x, float y, float z) {
    float a = fabsf(p.x) - x, b = fabsf(p.y) - y, c = fabsf(p.z) - z;
    float u = fmaxf(a, 0.0f), v = fmaxf(b, 0.0f), w = fmaxf(c, 0.0f);
    return sqrtf(u * u + v * v + w * w) + fminf(fmaxf(a, fmaxf(b, c)), 0.0f);
}

__device__ float torus(float3 p, float large, float small) {
    float q = sqrtf(p.x * p.x + p.z * p.z) - large;
    return sqrtf(q * q + p.y * p.y) - small;
}

__device__ float smooth_min(float a, float b, float k) {
    float h = fmaxf(k - fabsf(a - b), 0.0f) / k;
    return fminf(a, b) - h * h * k * 0.25f;
}

__device__ float scene(float3 p, float c, float s) {
    float ball = sqrtf(p.x * p.x + (p.y - 0.4f) * (p.y - 0.4f) + p.z * p.z) - 0.6f;
    float3 q = make_float3(c * p.x + s * p.z, p.y, c * p.z - s * p.x);
    float cube = box(q, 0.9f, 0.25f, 0.4f);
    float ring = torus(make_float3(p.x - 1.5f, p.y - 0.1f, p.z + 0.3f), 0.6f, 0.2f);
    float floor = p.y + 0.5f;
    return fminf(floor, fminf(ring, smooth_min(ball, cube, 0.3f)));
}

extern "C" __global__ void raymarch(uchar4 *image, int w, int h, float time, int steps) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float c = cosf(time), s = sinf(time);
    float3 from = make_float3(0.3f, 1.2f, -4.0f);
    float3 dir = make_float3((x + 0.5f - 0.5f * w) / h, (0.5f * h - y - 0.5f) / h - 0.2f, 1.3f);
    float inv = 1.0f / sqrtf(dir.x * dir.x + dir.y * dir.y + dir.z * dir.z);
    dir = make_float3(dir.x * inv, dir.y * inv, dir.z * inv);

    float t = 0.0f;
    bool hit = false;
    float3 p = from;
    for (int i = 0; i < steps; i++) {
        p = make_float3(from.x + t * dir.x, from.y + t * dir.y, from.z + t * dir.z);
        float d = scene(p, c, s);
        if (d < 0.001f) {
            hit = true;
            break;
        }
        t += d;
        if (t > 20.0f)
            break;
    }

    float r = 0.4f + 0.3f * dir.y, g = 0.6f + 0.2f * dir.y, b = 0.9f;
    if (hit) {
        const float e = 0.01f;
        float nx = scene(make_float3(p.x + e, p.y, p.z), c, s) - scene(make_float3(p.x - e, p.y, p.z), c, s);
        float ny = scene(make_float3(p.x, p.y + e, p.z), c, s) - scene(make_float3(p.x, p.y - e, p.z), c, s);
        float nz = scene(make_float3(p.x, p.y, p.z + e), c, s) - scene(make_float3(p.x, p.y, p.z - e), c, s);
        float len = 1.0f / sqrtf(nx * nx + ny * ny + nz * nz);
        float light = fmaxf(0.0f, (nx * 0.48f + ny * 0.8f - nz * 0.36f) * len), shadow = 1.0f;
        for (float u = 0.05f; u < 6.0f;) {
            float d = scene(make_float3(p.x + u * 0.48f, p.y + u * 0.8f, p.z - u * 0.36f), c, s);
            if (d < 0.001f) {
                shadow = 0.0f;
                break;
            }
            shadow = fminf(shadow, 8.0f * d / u);
            u += d;
        }
        float all = 0.15f + 0.85f * light * shadow, fog = t / 20.0f;
        r = (0.9f * all) * (1.0f - fog) + r * fog;
        g = (0.7f * all) * (1.0f - fog) + g * fog;
        b = (0.5f * all) * (1.0f - fog) + b * fog;
    }
    image[y * w + x] = make_uchar4((unsigned char)(255.0f * fminf(r, 1.0f)), (unsigned char)(255.0f * fminf(g, 1.0f)),
                                   (unsigned char)(255.0f * fminf(b, 1.0f)), 255);
}
