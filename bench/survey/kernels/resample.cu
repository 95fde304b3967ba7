// Resampling of a particle filter: each thread looks through the sums of weights, from the first on, for the
// particle that its random number falls on, and takes a copy of it.
struct Particle {
    double x, y;
    float heading, speed;
    int ancestor, age;
};

extern "C" __global__ void resample(const Particle *from, Particle *to, const double *cumulative, const double *draw,
                                    int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double u = draw[i] * cumulative[n - 1];
    int at = n - 1;
    for (int k = 0; k < n; k++) {
        if (cumulative[k] >= u) {
            at = k;
            break;
        }
    }
    Particle p = from[at];
    p.ancestor = at;
    p.age++;
    to[i] = p;
}
