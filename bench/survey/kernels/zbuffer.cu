// The nearest of all triangles at each pixel: three edge functions for each, and the depth between the corners.
struct Triangle {
    float3 a, b, c;
};

__device__ float edge(float3 p, float3 q, float x, float y) { return (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x); }

extern "C" __global__ void zbuffer(const Triangle *triangles, int count, float *depth, int *id, int w, int h) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    float x = px + 0.5f, y = py + 0.5f;
    float nearest = 1.0f;
    int which = -1;
    for (int i = 0; i < count; i++) {
        Triangle t = triangles[i];
        float area = edge(t.a, t.b, t.c.x, t.c.y);
        if (area <= 0.0f)
            continue;
        float u = edge(t.b, t.c, x, y), v = edge(t.c, t.a, x, y), s = edge(t.a, t.b, x, y);
        if (u < 0.0f || v < 0.0f || s < 0.0f)
            continue;
        float z = (u * t.a.z + v * t.b.z + s * t.c.z) / area;
        if (z < nearest) {
            nearest = z;
            which = i;
        }
    }
    depth[py * w + px] = nearest;
    id[py * w + px] = which;
}
