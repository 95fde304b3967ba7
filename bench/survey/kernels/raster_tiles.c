// Triangles into pixels: edges in fixed point; for each tile of 16 x 16 pixels the triangles that may touch
// it, by arrays of the sides of their boxes, then rows of pixels in vectors.
#include "native.h"

enum { TILE = 16 };

typedef struct {
    float x, y, z;
} Vertex;

typedef struct {
    int a[3], b[3], c[3];
    short left, top, right, bottom;
    float z0, zx, zy;
    uint colour;
} Setup;

void run(const Vertex *restrict vertices, const int *restrict triangles, float *restrict depth, uint *restrict pixels,
         int count, int width, int height) {
    int across = (width + TILE - 1) / TILE, down = (height + TILE - 1) / TILE;
    Setup *restrict setups = malloc(count * sizeof *setups);
    short *restrict left = malloc(4L * count * sizeof(short)), *restrict right = left + count;
    short *restrict top = right + count, *restrict bottom = top + count;
    int *restrict list = malloc(count * sizeof(int));
    uchar *restrict touches = malloc(count);
    for (int t = 0; t < count; t++) {
        Vertex v[3];
        int x[3], y[3];
        for (int i = 0; i < 3; i++) {
            v[i] = vertices[triangles[3 * t + i]];
            x[i] = rintf(v[i].x * 16), y[i] = rintf(v[i].y * 16);
        }
        Setup s;
        int area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
        s.left = MAX(MIN(MIN(x[0], x[1]), x[2]) >> 4, 0);
        s.top = MAX(MIN(MIN(y[0], y[1]), y[2]) >> 4, 0);
        s.right = MIN(MAX(MAX(x[0], x[1]), x[2]) >> 4, width - 1);
        s.bottom = MIN(MAX(MAX(y[0], y[1]), y[2]) >> 4, height - 1);
        if (area <= 0 || s.bottom < s.top)
            s.left = 1, s.right = 0;
        if (s.left <= s.right) {
            for (int i = 0; i < 3; i++) {
                int j = i == 2 ? 0 : i + 1, dx = x[j] - x[i], dy = y[j] - y[i];
                s.a[i] = -dy, s.b[i] = dx;
                s.c[i] = dy * x[i] - dx * y[i] - (dy < 0 || (dy == 0 && dx > 0) ? 0 : 1);
            }
            float ux = v[1].x - v[0].x, uy = v[1].y - v[0].y, uz = v[1].z - v[0].z;
            float wx = v[2].x - v[0].x, wy = v[2].y - v[0].y, wz = v[2].z - v[0].z, det = ux * wy - uy * wx;
            s.zx = (uz * wy - uy * wz) / det, s.zy = (ux * wz - uz * wx) / det;
            s.z0 = v[0].z - s.zx * v[0].x - s.zy * v[0].y;
            float light = 1 / sqrtf(1 + 900 * (s.zx * s.zx + s.zy * s.zy));
            s.colour = 0xff000000u | (t * 37u & 255) << 16 | (t * 101u & 255) << 8 | (uint)(40 + 200 * light);
        }
        left[t] = s.left, right[t] = s.left <= s.right ? s.right : -1, top[t] = s.top, bottom[t] = s.bottom;
        setups[t] = s;
    }
    for (int tile = 0; tile < across * down; tile++) {
        int x0 = tile % across * TILE, y0 = tile / across * TILE;
        int listed = 0;
        short x1 = x0 + TILE, y1 = y0 + TILE;
#pragma omp simd
        for (int t = 0; t < count; t++)
            touches[t] = (left[t] < x1) & (right[t] >= x0) & (top[t] < y1) & (bottom[t] >= y0);
        for (int t = 0; t < count; t += 8) {
            ull eight = 0;
            memcpy(&eight, touches + t, MIN(8, count - t));
            for (; eight; eight &= eight - 1)
                list[listed++] = t + __builtin_ctzll(eight) / 8;
        }
        float nearest[TILE][TILE];
        uint colour[TILE][TILE];
        for (int i = 0; i < TILE * TILE; i++)
            nearest[0][i] = 1, colour[0][i] = 0xff202020u;
        for (int k = 0; k < listed; k++) {
            Setup s = setups[list[k]];
            for (int y = MAX(s.top, y0); y <= MIN(s.bottom, y0 + TILE - 1); y++) {
                float *restrict row = nearest[y - y0], fy = y + 0.5f;
                uint *restrict paint = colour[y - y0];
                int py = y * 16 + 8, e0 = s.b[0] * py + s.c[0], e1 = s.b[1] * py + s.c[1], e2 = s.b[2] * py + s.c[2];
#pragma omp simd
                for (int i = 0; i < TILE; i++) {
                    int px = (x0 + i) * 16 + 8;
                    float z = s.z0 + s.zx * (x0 + i + 0.5f) + s.zy * fy;
                    int in = ((s.a[0] * px + e0) | (s.a[1] * px + e1) | (s.a[2] * px + e2)) >= 0;
                    in &= z < row[i] && z >= 0;
                    row[i] = in ? z : row[i];
                    paint[i] = in ? s.colour : paint[i];
                }
            }
        }
        int wide = MIN(TILE, width - x0);
        for (int y = y0; y < MIN(y0 + TILE, height); y++) {
            memcpy(depth + y * width + x0, nearest[y - y0], wide * sizeof(float));
            memcpy(pixels + y * width + x0, colour[y - y0], wide * sizeof(uint));
        }
    }
    free(setups), free(left), free(list), free(touches);
}
