// Finite elements: a thread makes the diffusion matrix and the source vector of a hexahedron with eight nodes, by
// eight points of Gauss, and adds them to a sparse matrix, whose columns it finds by bisection.
#define NODES 8

struct ElemData {
    int nodes[NODES];
    double coords[NODES * 3];
    double matrix[NODES * (NODES + 1) / 2];
    double source[NODES];
};

__device__ void shape_functions(const double *x, double *values) {
    const double u = 1.0 - x[0], v = 1.0 - x[1], w = 1.0 - x[2];
    const double up1 = 1.0 + x[0], vp1 = 1.0 + x[1], wp1 = 1.0 + x[2];
    values[0] = 0.125 * u * v * w;
    values[1] = 0.125 * up1 * v * w;
    values[2] = 0.125 * up1 * vp1 * w;
    values[3] = 0.125 * u * vp1 * w;
    values[4] = 0.125 * u * v * wp1;
    values[5] = 0.125 * up1 * v * wp1;
    values[6] = 0.125 * up1 * vp1 * wp1;
    values[7] = 0.125 * u * vp1 * wp1;
}

__device__ void shape_gradients(const double *x, double *grads) {
    for (int n = 0; n < NODES; n++) {
        const double sx = (n == 1 || n == 2 || n == 5 || n == 6) ? 1.0 : -1.0;
        const double sy = (n == 2 || n == 3 || n == 6 || n == 7) ? 1.0 : -1.0;
        const double sz = n >= 4 ? 1.0 : -1.0;
        grads[3 * n] = 0.125 * sx * (1.0 + sy * x[1]) * (1.0 + sz * x[2]);
        grads[3 * n + 1] = 0.125 * sy * (1.0 + sx * x[0]) * (1.0 + sz * x[2]);
        grads[3 * n + 2] = 0.125 * sz * (1.0 + sx * x[0]) * (1.0 + sy * x[1]);
    }
}

// The inverse of what derives the place by the local coordinates, and its determinant.
__device__ double inverse_jacobian(const double *coords, const double *grads, double *inv) {
    double J[9] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (int n = 0; n < NODES; n++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                J[3 * i + j] += grads[3 * n + i] * coords[3 * n + j];
    double det = J[0] * (J[4] * J[8] - J[7] * J[5]) - J[1] * (J[3] * J[8] - J[6] * J[5]) +
                 J[2] * (J[3] * J[7] - J[6] * J[4]);
    double r = 1.0 / det;
    inv[0] = (J[4] * J[8] - J[5] * J[7]) * r;
    inv[1] = -(J[1] * J[8] - J[2] * J[7]) * r;
    inv[2] = (J[1] * J[5] - J[2] * J[4]) * r;
    inv[3] = -(J[3] * J[8] - J[5] * J[6]) * r;
    inv[4] = (J[0] * J[8] - J[2] * J[6]) * r;
    inv[5] = -(J[0] * J[5] - J[2] * J[3]) * r;
    inv[6] = (J[3] * J[7] - J[4] * J[6]) * r;
    inv[7] = -(J[0] * J[7] - J[1] * J[6]) * r;
    inv[8] = (J[0] * J[4] - J[1] * J[3]) * r;
    return det;
}

__device__ void compute_element(ElemData &elem, double conductivity) {
    for (int i = 0; i < NODES * (NODES + 1) / 2; i++)
        elem.matrix[i] = 0.0;
    for (int i = 0; i < NODES; i++)
        elem.source[i] = 0.0;
    const double point[2] = {-0.577350269189625764, 0.577350269189625764};
    for (int ig = 0; ig < 2; ig++)
        for (int jg = 0; jg < 2; jg++)
            for (int kg = 0; kg < 2; kg++) {
                const double x[3] = {point[ig], point[jg], point[kg]};
                double grads[NODES * 3], values[NODES], inv[9], dpsi[NODES * 3];
                shape_gradients(x, grads);
                shape_functions(x, values);
                double det = inverse_jacobian(elem.coords, grads, inv);
                for (int n = 0; n < NODES; n++)
                    for (int i = 0; i < 3; i++)
                        dpsi[3 * n + i] = inv[3 * i] * grads[3 * n] + inv[3 * i + 1] * grads[3 * n + 1] +
                                          inv[3 * i + 2] * grads[3 * n + 2];
                int at = 0;
                for (int m = 0; m < NODES; m++) {
                    elem.source[m] += values[m] * det;
                    for (int n = m; n < NODES; n++) {
                        double dot = dpsi[3 * m] * dpsi[3 * n] + dpsi[3 * m + 1] * dpsi[3 * n + 1] +
                                     dpsi[3 * m + 2] * dpsi[3 * n + 2];
                        elem.matrix[at++] += conductivity * det * dot;
                    }
                }
            }
}

__device__ int lower_bound(const int *values, int first, int last, int wanted) {
    while (first < last) {
        int middle = first + (last - first) / 2;
        if (values[middle] < wanted)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

__device__ void sum_in(const int *row_offsets, const int *columns, double *coefs, int row, int col, double value) {
    int at = lower_bound(columns, row_offsets[row], row_offsets[row + 1], col);
    if (at < row_offsets[row + 1] && columns[at] == col)
        atomicAdd(&coefs[at], value);
}

extern "C" __global__ void hexfe(const int *elem_nodes, const double *node_coords, const int *row_offsets,
                                 const int *columns, double *coefs, double *rhs, int elements, double conductivity) {
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < elements; e += gridDim.x * blockDim.x) {
        ElemData elem;
        for (int n = 0; n < NODES; n++) {
            elem.nodes[n] = elem_nodes[n * elements + e];
            for (int d = 0; d < 3; d++)
                elem.coords[3 * n + d] = node_coords[3 * elem.nodes[n] + d];
        }
        compute_element(elem, conductivity);
        int at = 0;
        for (int i = 0; i < NODES; i++) {
            atomicAdd(&rhs[elem.nodes[i]], elem.source[i]);
            sum_in(row_offsets, columns, coefs, elem.nodes[i], elem.nodes[i], elem.matrix[at++]);
            for (int j = i + 1; j < NODES; j++) {
                double value = elem.matrix[at++];
                sum_in(row_offsets, columns, coefs, elem.nodes[i], elem.nodes[j], value);
                sum_in(row_offsets, columns, coefs, elem.nodes[j], elem.nodes[i], value);
            }
        }
    }
}
