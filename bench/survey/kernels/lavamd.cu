// Potentials and forces between the particles of a box and of the boxes around it, a block for each box; a home
// box's particles stay in shared memory, those of its neighbours come one box after another.
#define NUMBER_PAR_PER_BOX 100
#define NUMBER_THREADS 128
#define DOT(A, B) ((A.x) * (B.x) + (A.y) * (B.y) + (A.z) * (B.z))
#define fp double

struct THREE_VECTOR {
    fp x, y, z;
};

struct FOUR_VECTOR {
    fp v, x, y, z;
};

struct nei_str {
    int x, y, z, number;
    long offset;
};

struct box_str {
    int x, y, z, number;
    long offset;
    int nn;
    nei_str nei[26];
};

struct par_str {
    fp alpha;
};

extern "C" __global__ void lavamd(par_str d_par_gpu, long number_boxes, const box_str *d_box_gpu,
                                  const FOUR_VECTOR *d_rv_gpu, const fp *d_qv_gpu, FOUR_VECTOR *d_fv_gpu) {
    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int wtx = tx;
    if (bx < number_boxes) {
        fp a2 = 2.0 * d_par_gpu.alpha * d_par_gpu.alpha;
        __shared__ FOUR_VECTOR rA_shared[NUMBER_PAR_PER_BOX];
        __shared__ FOUR_VECTOR rB_shared[NUMBER_PAR_PER_BOX];
        __shared__ double qB_shared[NUMBER_PAR_PER_BOX];

        int first_i = d_box_gpu[bx].offset;
        const FOUR_VECTOR *rA = &d_rv_gpu[first_i];
        FOUR_VECTOR *fA = &d_fv_gpu[first_i];
        while (wtx < NUMBER_PAR_PER_BOX) {
            rA_shared[wtx] = rA[wtx];
            wtx = wtx + NUMBER_THREADS;
        }
        wtx = tx;
        __syncthreads();

        for (int k = 0; k < (1 + d_box_gpu[bx].nn); k++) {
            int pointer = k == 0 ? bx : d_box_gpu[bx].nei[k - 1].number;
            int first_j = d_box_gpu[pointer].offset;
            const FOUR_VECTOR *rB = &d_rv_gpu[first_j];
            const fp *qB = &d_qv_gpu[first_j];
            while (wtx < NUMBER_PAR_PER_BOX) {
                rB_shared[wtx] = rB[wtx];
                qB_shared[wtx] = qB[wtx];
                wtx = wtx + NUMBER_THREADS;
            }
            wtx = tx;
            __syncthreads();

            while (wtx < NUMBER_PAR_PER_BOX) {
                for (int j = 0; j < NUMBER_PAR_PER_BOX; j++) {
                    fp r2 = rA_shared[wtx].v + rB_shared[j].v - DOT(rA_shared[wtx], rB_shared[j]);
                    fp u2 = a2 * r2;
                    fp vij = exp(-u2);
                    fp fs = 2 * vij;
                    THREE_VECTOR d;
                    d.x = rA_shared[wtx].x - rB_shared[j].x;
                    d.y = rA_shared[wtx].y - rB_shared[j].y;
                    d.z = rA_shared[wtx].z - rB_shared[j].z;
                    fA[wtx].v += qB_shared[j] * vij;
                    fA[wtx].x += qB_shared[j] * (fs * d.x);
                    fA[wtx].y += qB_shared[j] * (fs * d.y);
                    fA[wtx].z += qB_shared[j] * (fs * d.z);
                }
                wtx = wtx + NUMBER_THREADS;
            }
            wtx = tx;
            __syncthreads();
        }
    }
}
