// DXT1, a square at a time: its 16 pixels are a vector.
#include "native.h"

static inline float clamp(float v) {
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

static inline uint to_565(float r, float g, float b) {
    return (uint)(clamp(r) * 31 + 0.5f) << 11 | (uint)(clamp(g) * 63 + 0.5f) << 5 | (uint)(clamp(b) * 31 + 0.5f);
}

void run(const uchar *restrict image, uint *restrict out, int w, int h) {
    int across = (w + 3) / 4, down = (h + 3) / 4;
    for (int square = 0; square < across * down; square++) {
        float r[16], g[16], b[16];
        for (int k = 0; k < 16; k++) {
            int x = MIN(square % across * 4 + k % 4, w - 1), y = MIN(square / across * 4 + k / 4, h - 1);
            const uchar *p = image + 4L * (y * w + x);
            r[k] = p[0], g[k] = p[1], b[k] = p[2];
        }
        float mr = 0, mg = 0, mb = 0, xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
#pragma omp simd reduction(+ : mr, mg, mb)
        for (int k = 0; k < 16; k++) {
            r[k] /= 255, g[k] /= 255, b[k] /= 255;
            mr += r[k], mg += g[k], mb += b[k];
        }
        mr /= 16, mg /= 16, mb /= 16;
#pragma omp simd reduction(+ : xx, xy, xz, yy, yz, zz)
        for (int k = 0; k < 16; k++) {
            float x = r[k] - mr, y = g[k] - mg, z = b[k] - mb;
            xx += x * x, xy += x * y, xz += x * z, yy += y * y, yz += y * z, zz += z * z;
        }
        float ax = 1, ay = 1, az = 1;
        for (int i = 0; i < 8; i++) {
            float nx = xx * ax + xy * ay + xz * az, ny = xy * ax + yy * ay + yz * az;
            float nz = xz * ax + yz * ay + zz * az;
            float fx = fabsf(nx), fy = fabsf(ny), fz = fabsf(nz), norm = MAX(fx, MAX(fy, fz));
            if (norm < 1e-8f)
                break;
            ax = nx / norm, ay = ny / norm, az = nz / norm;
        }
        float length2 = ax * ax + ay * ay + az * az, high = -1e9f, low = 1e9f;
#pragma omp simd reduction(max : high) reduction(min : low)
        for (int k = 0; k < 16; k++) {
            float along = ((r[k] - mr) * ax + (g[k] - mg) * ay + (b[k] - mb) * az) / length2;
            high = along > high ? along : high;
            low = along < low ? along : low;
        }
        uint e0 = to_565(mr + high * ax, mg + high * ay, mb + high * az);
        uint e1 = to_565(mr + low * ax, mg + low * ay, mb + low * az);
        if (e0 < e1) {
            uint t = e0;
            e0 = e1;
            e1 = t;
        }
        float pr[4] = {(e0 >> 11) / 31.0f, (e1 >> 11) / 31.0f};
        float pg[4] = {(e0 >> 5 & 63) / 63.0f, (e1 >> 5 & 63) / 63.0f};
        float pb[4] = {(e0 & 31) / 31.0f, (e1 & 31) / 31.0f};
        pr[2] = (2 * pr[0] + pr[1]) / 3, pg[2] = (2 * pg[0] + pg[1]) / 3, pb[2] = (2 * pb[0] + pb[1]) / 3;
        pr[3] = (pr[0] + 2 * pr[1]) / 3, pg[3] = (pg[0] + 2 * pg[1]) / 3, pb[3] = (pb[0] + 2 * pb[1]) / 3;
        uint bits = 0;
        if (e0 != e1) {
#pragma omp simd reduction(| : bits)
            for (int k = 0; k < 16; k++) {
                float least = 1e9f;
                uint best = 0;
                for (int i = 0; i < 4; i++) {
                    float x = r[k] - pr[i], y = g[k] - pg[i], z = b[k] - pb[i], d = x * x + y * y + z * z;
                    best = d < least ? i : best;
                    least = d < least ? d : least;
                }
                bits |= best << 2 * k;
            }
        }
        out[2 * square] = e0 | e1 << 16;
        out[2 * square + 1] = bits;
    }
}
