#include "native.h"

// Numbers are float and double where the kernel has them: what is near a surface depends on it.
static float bulb_distance(float px, float py, float pz, float power, int iterations) {
    float x = px, y = py, z = pz, dr = 1, r = 0;
    for (int i = 0; i < iterations; i++) {
        r = sqrt((double)x * x + (double)y * y + (double)z * z);
        if (r > 2)
            break;
        double theta = acos(z / (r + 1e-9)) * power, phi = atan2(y, x) * power, zr = pow(r, power);
        dr = pow(r, power - 1.0) * power * dr + 1;
        double st = sin(theta);
        float scale = zr, dx = st * cos(phi), dy = sin(phi) * st, dz = cos(theta);
        x = dx * scale + px, y = dy * scale + py, z = dz * scale + pz;
    }
    return 0.5 * log(r) * r / dr;
}

void run(float *restrict image, int width, int height, float power, int iterations, int max_steps) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float u = (x + 0.5) / width * 2 - 1, v = ((y + 0.5) / height * 2 - 1) * height / width;
            float dx = u, dy = v - 0.1, dz = 1.6f;
            float length = sqrt((double)dx * dx + (double)dy * dy + (double)dz * dz), scale = 1.0 / length;
            dx *= scale, dy *= scale, dz *= scale;
            float travelled = 0, shade = 0;
            for (int step = 0; step < max_steps; step++) {
                float d = bulb_distance(dx * travelled, 0.3f + dy * travelled, dz * travelled - 2.5f, power,
                                        iterations);
                travelled += d;
                if (d < 0.002) {
                    shade = 1 - (float)step / max_steps;
                    break;
                }
                if (travelled > 5)
                    break;
            }
            image[y * width + x] = shade;
        }
}
