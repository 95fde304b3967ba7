// Light in layers of tissue by Monte Carlo: packets of photons are scattered, reflected at layers' borders, absorbed a
// part at a time, and put to an end by roulette. What is absorbed is added to a grid of depth and radius, in units of
// 2^-16 so that the order of atomics does not matter.
#define LAYERS 3
#define UNIT 65536.0f

struct Layer {
    float above, below;        // cm
    float mu_a, mu_s, g, index;
};

__constant__ Layer layers[LAYERS] = {
    {0.0f, 0.02f, 2.0f, 60.0f, 0.8f, 1.5f},
    {0.02f, 0.12f, 0.8f, 90.0f, 0.75f, 1.4f},
    {0.12f, 0.3f, 1.5f, 50.0f, 0.9f, 1.44f},
};

struct Photon {
    float3 at, way;
    float weight, left;  // `left`: of a step that a border cut short, without unit
    int layer;
};

// Multiply with carry.
__device__ float uniform(unsigned long long &state) {
    state = (state & 0xffffffffull) * 4294883355ull + (state >> 32);
    return ((unsigned int)state >> 8) * (1.0f / 16777216.0f);
}

// Share that is reflected where light of cosine `c` goes from n1 to n2; `into`: cosine beyond.
__device__ float fresnel(float n1, float n2, float c, float &into) {
    if (n1 == n2) {
        into = c;
        return 0.0f;
    }
    float s2 = (n1 / n2) * (n1 / n2) * (1.0f - c * c);
    if (s2 >= 1.0f) {
        into = 0.0f;
        return 1.0f;
    }
    into = sqrtf(1.0f - s2);
    float rs = (n1 * c - n2 * into) / (n1 * c + n2 * into);
    float rp = (n1 * into - n2 * c) / (n1 * into + n2 * c);
    return 0.5f * (rs * rs + rp * rp);
}

__device__ void scatter(Photon &p, float g, unsigned long long &state) {
    float cost;
    if (g == 0.0f) {
        cost = 2.0f * uniform(state) - 1.0f;
    } else {
        float t = (1.0f - g * g) / (1.0f - g + 2.0f * g * uniform(state));
        cost = (1.0f + g * g - t * t) / (2.0f * g);
    }
    cost = fminf(fmaxf(cost, -1.0f), 1.0f);
    float sint = sqrtf(1.0f - cost * cost), sinp, cosp;
    sincosf(6.2831853f * uniform(state), &sinp, &cosp);
    float3 w = p.way;
    if (fabsf(w.z) > 0.99999f) {
        p.way = make_float3(sint * cosp, sint * sinp, copysignf(cost, w.z * cost));
    } else {
        float root = sqrtf(1.0f - w.z * w.z), k = sint / root;
        p.way.x = k * (w.x * w.z * cosp - w.y * sinp) + w.x * cost;
        p.way.y = k * (w.y * w.z * cosp + w.x * sinp) + w.y * cost;
        p.way.z = -sint * cosp * root + w.z * cost;
    }
}

extern "C" __global__ void mcml(unsigned long long *absorbed, unsigned long long *escaped, int photons, int nr, int nz,
                                float dr, float dz, unsigned int seed) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= photons)
        return;
    unsigned long long state = (unsigned long long)(id * 2654435761u ^ seed) << 32 | (id + 1u);
    for (int k = 0; k < 4; k++)
        uniform(state);
    Photon p;
    p.at = make_float3(0.0f, 0.0f, 0.0f);
    p.way = make_float3(0.0f, 0.0f, 1.0f);
    p.left = 0.0f;
    p.layer = 0;
    float n0 = layers[0].index, first = (1.0f - n0) / (1.0f + n0);
    p.weight = 1.0f - first * first;

    while (p.weight > 0.0f) {
        const Layer &here = layers[p.layer];
        float mu = here.mu_a + here.mu_s;
        if (p.left == 0.0f)
            p.left = -logf(uniform(state) + 1e-8f);
        float step = p.left / mu, border = 1e30f;
        if (p.way.z > 0.0f)
            border = (here.below - p.at.z) / p.way.z;
        else if (p.way.z < 0.0f)
            border = (here.above - p.at.z) / p.way.z;

        if (step > border) {
            p.at.x += border * p.way.x;
            p.at.y += border * p.way.y;
            p.left -= border * mu;
            bool down = p.way.z > 0.0f;
            p.at.z = down ? here.below : here.above;
            int next = p.layer + (down ? 1 : -1);
            bool outside = next < 0 || next >= LAYERS;
            float n1 = here.index, n2 = outside ? 1.0f : layers[next].index, into;
            float reflected = fresnel(n1, n2, fabsf(p.way.z), into);
            if (uniform(state) < reflected) {
                p.way.z = -p.way.z;
            } else if (outside) {
                atomicAdd(&escaped[down], (unsigned long long)(p.weight * UNIT));
                p.weight = 0.0f;
            } else {
                p.way.x *= n1 / n2;
                p.way.y *= n1 / n2;
                p.way.z = down ? into : -into;
                p.layer = next;
            }
            continue;
        }
        p.at.x += step * p.way.x;
        p.at.y += step * p.way.y;
        p.at.z += step * p.way.z;
        p.left = 0.0f;
        float lost = p.weight * here.mu_a / mu;
        p.weight -= lost;
        int r = min((int)(sqrtf(p.at.x * p.at.x + p.at.y * p.at.y) / dr), nr - 1);
        int z = min((int)(p.at.z / dz), nz - 1);
        atomicAdd(&absorbed[z * nr + r], (unsigned long long)(lost * UNIT));
        scatter(p, here.g, state);
        if (p.weight < 0.01f) {
            if (uniform(state) < 0.1f)
                p.weight *= 10.0f;
            else
                p.weight = 0.0f;
        }
    }
}
