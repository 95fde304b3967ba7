// The burning ship in double precision with smooth colours: four steps between questions, as few points leave early.
struct View {
    double x0, y0, dx, dy;
};

// A cosine palette.
__device__ uchar4 paint(float t) {
    float r = 0.5f + 0.5f * cosf(6.2831853f * (t + 0.00f));
    float g = 0.5f + 0.5f * cosf(6.2831853f * (0.7f * t + 0.15f));
    float b = 0.5f + 0.5f * cosf(6.2831853f * (0.4f * t + 0.20f));
    return make_uchar4((unsigned char)(255.0f * r + 0.5f), (unsigned char)(255.0f * g + 0.5f),
                       (unsigned char)(255.0f * b + 0.5f), 255);
}

__device__ __forceinline__ void step(double &x, double &y, double cx, double cy) {
    double xx = x * x, yy = y * y;
    y = 2.0 * fabs(x * y) + cy;
    x = xx - yy + cx;
}

extern "C" __global__ void burn_ship(uchar4 *image, int *iterations, int width, int height, int limit, View view) {
    const int px = blockIdx.x * blockDim.x + threadIdx.x;
    const int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    const double cx = view.x0 + px * view.dx, cy = view.y0 + py * view.dy;
    double x = 0.0, y = 0.0;
    int n = 0;
    while (n + 4 <= limit) {
        double ox = x, oy = y;
#pragma unroll
        for (int k = 0; k < 4; k++)
            step(x, y, cx, cy);
        if (!(x * x + y * y <= 256.0)) {
            x = ox;
            y = oy;
            break;
        }
        n += 4;
    }
    while (n < limit && x * x + y * y <= 256.0) {
        step(x, y, cx, cy);
        n++;
    }
    uchar4 colour = make_uchar4(0, 0, 0, 255);
    if (n < limit) {
        float smooth = n + 1.0f - log2f(0.5f * logf((float)(x * x + y * y)) / 0.6931472f);
        colour = paint(0.02f * smooth);
    }
    const size_t at = (size_t)py * width + px;
    image[at] = colour;
    iterations[at] = n;
}
