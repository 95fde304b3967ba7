// A structure with members of every size, passed by value and indexed at run time.
struct Camera {
    double position[3];
    float matrix[3][4];
    unsigned char flags[5];
    short shift;
    long long seed;
    const float *points;
};

extern "C" __global__ void project(Camera camera, int n, float *result, long long *tags)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float p[3];
    for (int k = 0; k < 3; ++k)
        p[k] = camera.points[3 * i + k] - (float)camera.position[k];
    int row = camera.flags[i % 5] % 3;
    result[i] = camera.matrix[row][3];
    for (int k = 0; k < 3; ++k)
        result[i] += camera.matrix[row][k] * p[k];
    tags[i] = camera.seed * (i + 1) + camera.shift;
}
