// A sparse matrix by a vector, in jagged diagonals: rows sorted by length, a thread for each, the next number fetched
// before it is needed.
extern "C" __global__ void jds(float *dst_vector, const float *d_data, const int *d_index, const int *d_perm,
                               const float *x_vec, const int *jds_ptr_int, const int *sh_zcnt_int, const int dim) {
    int ix = blockIdx.x * blockDim.x + threadIdx.x;
    int warp_id = ix >> 5;
    if (ix < dim) {
        float sum = 0.0f;
        int bound = sh_zcnt_int[warp_id];
        if (bound > 0) {
            int j = jds_ptr_int[0] + ix;
            float d = d_data[j];
            int i = d_index[j];
            float t = x_vec[i];
            if (bound > 1) {
                j = jds_ptr_int[1] + ix;
                i = d_index[j];
                float dn = d_data[j];
                for (int k = 2; k < bound; k++) {
                    float tn = x_vec[i];
                    sum += d * t;
                    j = jds_ptr_int[k] + ix;
                    i = d_index[j];
                    d = dn;
                    t = tn;
                    dn = d_data[j];
                }
                sum += d * t;
                d = dn;
                t = x_vec[i];
            }
            sum += d * t;
        }
        dst_vector[d_perm[ix]] = sum;
    }
}
