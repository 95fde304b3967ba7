// Lengths of shortest ways on the earth's ellipsoid and the directions in which they start (Vincenty's inverse problem):
// each thread repeats until its pair's longitude on the sphere is settled.
#define MAJOR 6378137.0
#define FLATTENING (1.0 / 298.257223563)
#define MINOR (MAJOR * (1.0 - FLATTENING))
#define DEGREE 0.017453292519943295

struct Geodesic {
    double length, azimuth;
    int rounds, pad;
};

__device__ Geodesic inverse(double4 pair) {
    Geodesic g = {0.0, 0.0, 0, 0};
    double phi1 = pair.x * DEGREE, phi2 = pair.z * DEGREE, l = (pair.w - pair.y) * DEGREE;
    double t1 = (1.0 - FLATTENING) * tan(phi1), c1 = 1.0 / sqrt(1.0 + t1 * t1), s1 = t1 * c1;
    double t2 = (1.0 - FLATTENING) * tan(phi2), c2 = 1.0 / sqrt(1.0 + t2 * t2), s2 = t2 * c2;
    double lambda = l, before, sin_lambda, cos_lambda, sin_sigma, cos_sigma, sigma, cos2_alpha, cos_2m;
    do {
        sin_lambda = sin(lambda);
        cos_lambda = cos(lambda);
        double a = c2 * sin_lambda, b = c1 * s2 - s1 * c2 * cos_lambda;
        sin_sigma = sqrt(a * a + b * b);
        if (sin_sigma < 1e-14)
            return g;  // the same place
        cos_sigma = s1 * s2 + c1 * c2 * cos_lambda;
        sigma = atan2(sin_sigma, cos_sigma);
        double sin_alpha = c1 * c2 * sin_lambda / sin_sigma;
        cos2_alpha = 1.0 - sin_alpha * sin_alpha;
        cos_2m = cos2_alpha > 1e-14 ? cos_sigma - 2.0 * s1 * s2 / cos2_alpha : 0.0;
        double c = FLATTENING / 16.0 * cos2_alpha * (4.0 + FLATTENING * (4.0 - 3.0 * cos2_alpha));
        before = lambda;
        lambda = l + (1.0 - c) * FLATTENING * sin_alpha *
                         (sigma + c * sin_sigma * (cos_2m + c * cos_sigma * (-1.0 + 2.0 * cos_2m * cos_2m)));
    } while (fabs(lambda - before) > 1e-11 && ++g.rounds < 50);
    double u2 = cos2_alpha * (MAJOR * MAJOR - MINOR * MINOR) / (MINOR * MINOR);
    double a = 1.0 + u2 / 16384.0 * (4096.0 + u2 * (-768.0 + u2 * (320.0 - 175.0 * u2)));
    double b = u2 / 1024.0 * (256.0 + u2 * (-128.0 + u2 * (74.0 - 47.0 * u2)));
    double square = cos_2m * cos_2m;
    double delta = b * sin_sigma *
                   (cos_2m + b / 4.0 * (cos_sigma * (-1.0 + 2.0 * square) -
                                        b / 6.0 * cos_2m * (-3.0 + 4.0 * sin_sigma * sin_sigma) *
                                            (-3.0 + 4.0 * square)));
    g.length = MINOR * a * (sigma - delta);
    g.azimuth = atan2(c2 * sin_lambda, c1 * s2 - s1 * c2 * cos_lambda) / DEGREE;
    return g;
}

extern "C" __global__ void vincenty(const double4 *__restrict__ pairs, double *__restrict__ length,
                                    double *__restrict__ azimuth, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        Geodesic g = inverse(pairs[i]);
        length[i] = g.rounds < 50 ? g.length : -1.0;
        azimuth[i] = g.azimuth;
    }
}
