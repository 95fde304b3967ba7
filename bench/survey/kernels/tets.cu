// Finite elements of heat in a body of tetrahedra: each element's matrices (conduction and mass) and its load are added
// to those of all by atomics, an entry found by bisection in its row; then the nodes whose temperature is given.
struct Sparse {
    const int *row_start;
    const int *columns;
    double *values;

    __device__ int find(int row, int column) const {
        int low = row_start[row], high = row_start[row + 1] - 1;
        while (low < high) {
            int middle = (low + high) >> 1;
            if (columns[middle] < column)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
};

__device__ inline double3 operator-(double3 a, double3 b) {
    return make_double3(a.x - b.x, a.y - b.y, a.z - b.z);
}
__device__ inline double3 cross(double3 a, double3 b) {
    return make_double3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__device__ inline double dot(double3 a, double3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

extern "C" __global__ void tet_assemble(const double3 *__restrict__ nodes, const int4 *__restrict__ elements,
                                        const unsigned char *__restrict__ material,
                                        const double *__restrict__ conductivity, const double *__restrict__ capacity,
                                        const double *__restrict__ source, const int *__restrict__ row_start,
                                        const int *__restrict__ columns, double *values, double *rhs, int count,
                                        double dt) {
    Sparse matrix = {row_start, columns, values};
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count)
        return;
    int4 element = elements[e];
    int id[4] = {element.x, element.y, element.z, element.w};
    double3 p[4];
    for (int k = 0; k < 4; k++)
        p[k] = nodes[id[k]];

    double3 a = p[1] - p[0], b = p[2] - p[0], c = p[3] - p[0];
    double3 gradient[4];
    gradient[1] = cross(b, c);
    gradient[2] = cross(c, a);
    gradient[3] = cross(a, b);
    double det = dot(a, gradient[1]), volume = fabs(det) / 6.0;
    double3 sum = make_double3(0.0, 0.0, 0.0);
    for (int k = 1; k < 4; k++) {
        gradient[k].x /= det;
        gradient[k].y /= det;
        gradient[k].z /= det;
        sum.x -= gradient[k].x;
        sum.y -= gradient[k].y;
        sum.z -= gradient[k].z;
    }
    gradient[0] = sum;

    int m = material[e];
    double k_v = dt * conductivity[m] * volume, m_v = capacity[m] * volume / 20.0;
    double heat = dt * volume * 0.25 * source[e];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            double value = k_v * dot(gradient[i], gradient[j]) + (i == j ? 2.0 * m_v : m_v);
            atomicAdd(&matrix.values[matrix.find(id[i], id[j])], value);
        }
        atomicAdd(&rhs[id[i]], heat);
    }
}

// A row becomes that of one, and its column moves to the right-hand side of others. A thread for each row.
extern "C" __global__ void tet_dirichlet(const int *__restrict__ row_start, const int *__restrict__ columns,
                                         double *values, double *rhs, const unsigned char *fixed,
                                         const double *temperature, int rows) {
    Sparse matrix = {row_start, columns, values};
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    bool mine = fixed[row];
    double off = 0.0;
    for (int k = matrix.row_start[row]; k < matrix.row_start[row + 1]; k++) {
        int c = matrix.columns[k];
        if (mine) {
            matrix.values[k] = c == row ? 1.0 : 0.0;
        } else if (fixed[c]) {
            off += matrix.values[k] * temperature[c];
            matrix.values[k] = 0.0;
        }
    }
    rhs[row] = mine ? temperature[row] : rhs[row] - off;
}
