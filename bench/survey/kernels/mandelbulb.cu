// A Mandelbulb: each pixel's ray marches by the distance estimate of the fractal, with trigonometry in double
// since no literal has an f.
struct Vec3 {
    float x, y, z;
    __device__ Vec3() : x(0), y(0), z(0) {}
    __device__ Vec3(float x, float y, float z) : x(x), y(y), z(z) {}
    __device__ Vec3 operator+(const Vec3 &o) const { return Vec3(x + o.x, y + o.y, z + o.z); }
    __device__ Vec3 operator*(float s) const { return Vec3(x * s, y * s, z * s); }
    __device__ float length() const { return sqrt(pow(x, 2.0) + pow(y, 2.0) + pow(z, 2.0)); }
    __device__ Vec3 normalized() const { return *this * (1.0 / length()); }
};

__device__ float bulb_distance(Vec3 position, float power, int iterations) {
    Vec3 z = position;
    float dr = 1.0;
    float r = 0.0;
    for (int i = 0; i < iterations; i++) {
        r = z.length();
        if (r > 2.0)
            break;
        double theta = acos(z.z / (r + 1e-9)) * power;
        double phi = atan2((double)z.y, (double)z.x) * power;
        dr = pow(r, power - 1.0) * power * dr + 1.0;
        double zr = pow(r, power);
        z = Vec3(sin(theta) * cos(phi), sin(phi) * sin(theta), cos(theta)) * zr + position;
    }
    return 0.5 * log(r) * r / dr;
}

extern "C" __global__ void mandelbulb(float *image, int width, int height, float power, int iterations,
                                      int max_steps) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= width * height)
        return;
    int x = idx % width;
    int y = idx / width;
    float u = (x + 0.5) / width * 2.0 - 1.0;
    float v = ((y + 0.5) / height * 2.0 - 1.0) * height / width;
    Vec3 origin(0.0, 0.3, -2.5);
    Vec3 direction = Vec3(u, v - 0.1, 1.6).normalized();
    float travelled = 0.0;
    float shade = 0.0;
    for (int step = 0; step < max_steps; step++) {
        Vec3 p = origin + direction * travelled;
        float d = bulb_distance(p, power, iterations);
        travelled += d;
        if (d < 0.002) {
            shade = 1.0 - (float)step / max_steps;
            break;
        }
        if (travelled > 5.0)
            break;
    }
    image[idx] = shade;
}
