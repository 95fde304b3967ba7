// A picture of a mesh by rays: triangles are listed in the cells of a grid, which a ray walks through from cell to cell
// until it has hit; then another ray to the light.
struct Grid {
    float3 low;
    float side;
    int nx, ny, nz;
};

struct Hit {
    float t, u, v;
    int triangle;
};

__device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ inline float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float3 operator*(float s, float3 a) { return make_float3(s * a.x, s * a.y, s * a.z); }
__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__device__ inline float3 normalize(float3 a) { return rsqrtf(dot(a, a)) * a; }

__device__ bool intersect(float3 origin, float3 way, float3 a, float3 b, float3 c, Hit &hit) {
    float3 e1 = b - a, e2 = c - a, p = cross(way, e2);
    float det = dot(e1, p);
    if (fabsf(det) < 1e-9f)
        return false;
    float inv = 1.0f / det;
    float3 s = origin - a;
    float u = dot(s, p) * inv;
    if (u < 0.0f || u > 1.0f)
        return false;
    float3 q = cross(s, e1);
    float v = dot(way, q) * inv;
    if (v < 0.0f || u + v > 1.0f)
        return false;
    float t = dot(e2, q) * inv;
    if (t <= 1e-4f || t >= hit.t)
        return false;
    hit.t = t;
    hit.u = u;
    hit.v = v;
    return true;
}

template <bool ANY>
__device__ bool trace(float3 origin, float3 way, const Grid &grid, const int *__restrict__ cell_start,
                      const int *__restrict__ cell_triangles, const int3 *__restrict__ triangles,
                      const float3 *__restrict__ vertices, Hit &hit) {
    int size[3] = {grid.nx, grid.ny, grid.nz}, cell[3], step[3], end[3];
    float from[3] = {origin.x - grid.low.x, origin.y - grid.low.y, origin.z - grid.low.z};
    float d[3] = {way.x, way.y, way.z}, next[3], delta[3];
    float enter = 0.0f, leave = 1e30f;
    for (int a = 0; a < 3; a++) {
        float inv = 1.0f / d[a];
        float t0 = -from[a] * inv, t1 = (size[a] * grid.side - from[a]) * inv;
        enter = fmaxf(enter, fminf(t0, t1));
        leave = fminf(leave, fmaxf(t0, t1));
        delta[a] = fabsf(grid.side * inv);
    }
    if (enter > leave)
        return false;
    for (int a = 0; a < 3; a++) {
        int c = (int)floorf((from[a] + enter * d[a]) / grid.side);
        c = min(max(c, 0), size[a] - 1);
        cell[a] = c;
        bool up = d[a] >= 0.0f;
        step[a] = up ? 1 : -1;
        end[a] = up ? size[a] : -1;
        next[a] = ((c + (up ? 1 : 0)) * grid.side - from[a]) / d[a];
    }
    while (true) {
        int index = (cell[2] * grid.ny + cell[1]) * grid.nx + cell[0];
        for (int k = cell_start[index]; k < cell_start[index + 1]; k++) {
            int id = cell_triangles[k];
            int3 t = triangles[id];
            if (intersect(origin, way, vertices[t.x], vertices[t.y], vertices[t.z], hit)) {
                hit.triangle = id;
                if (ANY)
                    return true;
            }
        }
        int a = next[0] < next[1] ? (next[0] < next[2] ? 0 : 2) : (next[1] < next[2] ? 1 : 2);
        if (hit.t <= next[a])
            return true;
        cell[a] += step[a];
        if (cell[a] == end[a])
            return false;
        next[a] += delta[a];
    }
}

extern "C" __global__ void ray_grid(const float3 *__restrict__ vertices, const float3 *__restrict__ normals,
                                    const int3 *__restrict__ triangles, const int *__restrict__ cell_start,
                                    const int *__restrict__ cell_triangles, uchar4 *__restrict__ picture,
                                    int *__restrict__ seen, int width, int height, int nx, int ny, int nz, float low_x,
                                    float low_y, float low_z, float side) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    Grid grid = {make_float3(low_x, low_y, low_z), side, nx, ny, nz};
    float3 eye = make_float3(0.3f, 0.6f, 3.2f);
    float3 forward = normalize(make_float3(-0.3f, -0.6f, -3.2f));
    float3 right = normalize(cross(forward, make_float3(0.0f, 1.0f, 0.0f)));
    float3 up = cross(right, forward);
    float sx = (2.0f * (px + 0.5f) / width - 1.0f) * 0.5f * width / height;
    float sy = (1.0f - 2.0f * (py + 0.5f) / height) * 0.5f;
    float3 way = normalize(forward + sx * right + sy * up);

    Hit hit = {1e30f, 0.0f, 0.0f, -1};
    float3 color = make_float3(0.2f, 0.3f, 0.5f + 0.3f * way.y);
    if (trace<false>(eye, way, grid, cell_start, cell_triangles, triangles, vertices, hit)) {
        int3 t = triangles[hit.triangle];
        float w = 1.0f - hit.u - hit.v;
        float3 normal = normalize(w * normals[t.x] + hit.u * normals[t.y] + hit.v * normals[t.z]);
        float3 at = eye + hit.t * way, light = normalize(make_float3(2.0f, 3.0f, 2.0f) - at);
        float facing = dot(normal, light), bright = 0.1f;
        if (facing > 0.0f) {
            Hit shadow = {1e30f, 0.0f, 0.0f, -1};
            float3 start = at + 2e-3f * normal;
            if (!trace<true>(start, light, grid, cell_start, cell_triangles, triangles, vertices, shadow)) {
                float3 half_way = normalize(light - way);
                bright += 0.7f * facing + 0.3f * powf(fmaxf(dot(normal, half_way), 0.0f), 32.0f);
            }
        }
        color = make_float3(bright * 0.9f, bright * 0.7f, bright * 0.4f);
    }
    int p = py * width + px;
    picture[p] = make_uchar4((unsigned char)(255.0f * __saturatef(color.x)),
                             (unsigned char)(255.0f * __saturatef(color.y)),
                             (unsigned char)(255.0f * __saturatef(color.z)), 255);
    seen[p] = hit.triangle;
}
