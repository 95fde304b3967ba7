// Fits of parabolas with weights: least squares of small systems by Givens rotations, a thread a
// system, with a matrix class as textbooks have it.
template <int R, int C>
class Matrix {
    float values[R][C];

  public:
    __device__ float &operator()(int i, int j) {
        return values[i][j];
    }
    __device__ float operator()(int i, int j) const {
        return values[i][j];
    }
    __device__ void rotate(int i, int k, float c, float s) {
        for (int j = 0; j < C; j++) {
            float x = values[i][j], y = values[k][j];
            values[i][j] = c * x + s * y;
            values[k][j] = -s * x + c * y;
        }
    }
};

template <int R, int C>
__device__ void triangular(Matrix<R, C> &a, int columns) {
    for (int j = 0; j < columns; j++) {
        for (int i = R - 1; i > j; i--) {
            float x = a(i - 1, j), y = a(i, j);
            if (y == 0.0f)
                continue;
            float r = sqrtf(x * x + y * y);
            a.rotate(i - 1, i, x / r, y / r);
        }
    }
}

struct Sample {
    float x, y, weight;
};

extern "C" __global__ void givens(const Sample *samples, float *coefficients, float *residual, int systems) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems)
        return;
    const int ROWS = 8, UNKNOWNS = 3;
    Matrix<ROWS, UNKNOWNS + 1> a;
    for (int i = 0; i < ROWS; i++) {
        Sample p = samples[s * ROWS + i];
        float power = p.weight;
        for (int j = 0; j < UNKNOWNS; j++) {
            a(i, j) = power;
            power *= p.x;
        }
        a(i, UNKNOWNS) = p.weight * p.y;
    }
    triangular(a, UNKNOWNS);
    float solution[UNKNOWNS];
    for (int i = UNKNOWNS - 1; i >= 0; i--) {
        float sum = a(i, UNKNOWNS);
        for (int j = i + 1; j < UNKNOWNS; j++)
            sum -= a(i, j) * solution[j];
        solution[i] = sum / a(i, i);
    }
    float rest = 0;
    for (int i = UNKNOWNS; i < ROWS; i++)
        rest += a(i, UNKNOWNS) * a(i, UNKNOWNS);
    for (int i = 0; i < UNKNOWNS; i++)
        coefficients[s * UNKNOWNS + i] = solution[i];
    residual[s] = sqrtf(rest);
}
