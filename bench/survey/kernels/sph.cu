// Densities of particles that are sorted by cells of a grid: neighbours in nine cells.
extern "C" __global__ void sph(const float2 *p, const int *start, float *density, int n, int cells, float h2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 me = p[i];
    int cx = (int)(me.x * cells), cy = (int)(me.y * cells);
    float sum = 0;
    for (int y = max(cy - 1, 0); y <= min(cy + 1, cells - 1); y++)
        for (int x = max(cx - 1, 0); x <= min(cx + 1, cells - 1); x++) {
            int cell = y * cells + x;
            for (int j = start[cell]; j < start[cell + 1]; j++) {
                float dx = p[j].x - me.x, dy = p[j].y - me.y, r2 = dx * dx + dy * dy;
                if (r2 < h2) {
                    float w = h2 - r2;
                    sum += w * w * w;
                }
            }
        }
    density[i] = sum;
}
