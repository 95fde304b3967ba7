// Mersenne twisters of 607 bits, one for each thread with parameters of its own, and Box-Muller on what they give.
#define MT_MM 9
#define MT_NN 19
#define MT_WMASK 0xFFFFFFFFU
#define MT_UMASK 0xFFFFFFFEU
#define MT_LMASK 0x1U
#define MT_SHIFT0 12
#define MT_SHIFTB 7
#define MT_SHIFTC 15
#define MT_SHIFT1 18
#define PI 3.14159265358979f

struct MtParams {
    unsigned int matrix_a, mask_b, mask_c, seed;
};

extern "C" __global__ void dcmt_random(float *d_Random, const MtParams *d_MT, int rngs, int nPerRng) {
    const int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (tid >= rngs)
        return;
    int iState, iState1, iStateM, iOut;
    unsigned int mti, mti1, mtiM, x;
    unsigned int mt[MT_NN], matrix_a, mask_b, mask_c;

    matrix_a = d_MT[tid].matrix_a;
    mask_b = d_MT[tid].mask_b;
    mask_c = d_MT[tid].mask_c;

    mt[0] = d_MT[tid].seed;
    for (iState = 1; iState < MT_NN; iState++)
        mt[iState] = (1812433253U * (mt[iState - 1] ^ (mt[iState - 1] >> 30)) + iState) & MT_WMASK;

    iState = 0;
    mti1 = mt[0];
    for (iOut = 0; iOut < nPerRng; iOut++) {
        iState1 = iState + 1;
        iStateM = iState + MT_MM;
        if (iState1 >= MT_NN)
            iState1 -= MT_NN;
        if (iStateM >= MT_NN)
            iStateM -= MT_NN;
        mti = mti1;
        mti1 = mt[iState1];
        mtiM = mt[iStateM];

        x = (mti & MT_UMASK) | (mti1 & MT_LMASK);
        x = mtiM ^ (x >> 1) ^ ((x & 1) ? matrix_a : 0);
        mt[iState] = x;
        iState = iState1;

        x ^= (x >> MT_SHIFT0);
        x ^= (x << MT_SHIFTB) & mask_b;
        x ^= (x << MT_SHIFTC) & mask_c;
        x ^= (x >> MT_SHIFT1);
        d_Random[tid + iOut * rngs] = ((float)x + 1.0f) / 4294967296.0f;
    }
}

__device__ void BoxMuller(float &u1, float &u2) {
    float r = sqrtf(-2.0f * logf(u1));
    float phi = 2 * PI * u2;
    u1 = r * cosf(phi);
    u2 = r * sinf(phi);
}

extern "C" __global__ void dcmt_boxmuller(float *d_Random, int rngs, int nPerRng) {
    const int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (tid >= rngs)
        return;
    for (int iOut = 0; iOut < nPerRng; iOut += 2)
        BoxMuller(d_Random[tid + (iOut + 0) * rngs], d_Random[tid + (iOut + 1) * rngs]);
}
