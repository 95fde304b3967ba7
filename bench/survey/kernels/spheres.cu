struct S {
    float x, y, z, r, cr, cg, cb, refl;
};

extern "C" __global__ void trace(const S *__restrict__ s, int ns, unsigned *img, int w, int h) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    float ox = 0, oy = 0, oz = -5, dx = (px - w / 2) / (float)h, dy = (py - h / 2) / (float)h, dz = 1;
    float il = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= il;
    dy *= il;
    dz *= il;
    float R = 0, G = 0, B = 0, k = 1;
    for (int b = 0; b < 3; b++) {
        float best = 1e20f;
        int hit = -1;
        for (int i = 0; i < ns; i++) {
            float cx = s[i].x - ox, cy = s[i].y - oy, cz = s[i].z - oz;
            float t = cx * dx + cy * dy + cz * dz;
            float d2 = cx * cx + cy * cy + cz * cz - t * t;
            float r2 = s[i].r * s[i].r;
            if (d2 < r2) {
                float q = t - sqrtf(r2 - d2);
                if (q > 1e-3f && q < best) {
                    best = q;
                    hit = i;
                }
            }
        }
        if (hit < 0) {
            float a = 0.5f * (dy + 1);
            R += k * a * 0.3f;
            G += k * a * 0.5f;
            B += k * a;
            break;
        }
        float hx = ox + dx * best, hy = oy + dy * best, hz = oz + dz * best;
        float ir = 1.0f / s[hit].r;
        float nx = (hx - s[hit].x) * ir, ny = (hy - s[hit].y) * ir, nz = (hz - s[hit].z) * ir;
        float l = fmaxf(0.f, nx * 0.577f + ny * 0.577f - nz * 0.577f), m = k * (1 - s[hit].refl);
        R += m * l * s[hit].cr;
        G += m * l * s[hit].cg;
        B += m * l * s[hit].cb;
        k *= s[hit].refl;
        float dn = 2 * (dx * nx + dy * ny + dz * nz);
        dx -= dn * nx;
        dy -= dn * ny;
        dz -= dn * nz;
        ox = hx;
        oy = hy;
        oz = hz;
    }
    unsigned r = (unsigned)(fminf(R, 1.f) * 255), g = (unsigned)(fminf(G, 1.f) * 255),
             bb = (unsigned)(fminf(B, 1.f) * 255);
    img[py * w + px] = r | g << 8 | bb << 16 | 0xff000000u;
}
