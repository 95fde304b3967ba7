// Magnetic resonance imaging: the matrix Q of a reconstruction along any path through k-space. Samples are packed,
// then each launch adds what a chunk of them gives to all voxels; a block stages its chunk in shared memory.
#define CHUNK 256
#define PIx2 6.2831853071795864769252867665590058f

struct KValues {
    float Kx, Ky, Kz, PhiMag;
};

extern "C" __global__ void mriq_pack(const float *phiR, const float *phiI, const float *kx, const float *ky,
                                     const float *kz, KValues *packed, int numK) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < numK) {
        float real = phiR[k], imag = phiI[k];
        KValues v;
        v.Kx = kx[k];
        v.Ky = ky[k];
        v.Kz = kz[k];
        v.PhiMag = real * real + imag * imag;
        packed[k] = v;
    }
}

extern "C" __global__ void mriq_q(const KValues *kGlobal, int first, int numK, const float *x, const float *y,
                                  const float *z, float *Qr, float *Qi, int numX) {
    __shared__ KValues ck[CHUNK];
    int count = min(CHUNK, numK - first);
    for (int k = threadIdx.x; k < count; k += blockDim.x)
        ck[k] = kGlobal[first + k];
    __syncthreads();

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= numX)
        return;
    float sX = x[i], sY = y[i], sZ = z[i];
    float sQr = Qr[i], sQi = Qi[i];
    int k = 0;
    if (count % 2) {
        float expArg = PIx2 * (ck[0].Kx * sX + ck[0].Ky * sY + ck[0].Kz * sZ);
        sQr += ck[0].PhiMag * cosf(expArg);
        sQi += ck[0].PhiMag * sinf(expArg);
        k++;
    }
    for (; k < count; k += 2) {
        float expArg = PIx2 * (ck[k].Kx * sX + ck[k].Ky * sY + ck[k].Kz * sZ);
        float expArg1 = PIx2 * (ck[k + 1].Kx * sX + ck[k + 1].Ky * sY + ck[k + 1].Kz * sZ);
        sQr += ck[k].PhiMag * cosf(expArg);
        sQi += ck[k].PhiMag * sinf(expArg);
        sQr += ck[k + 1].PhiMag * cosf(expArg1);
        sQi += ck[k + 1].PhiMag * sinf(expArg1);
    }
    Qr[i] = sQr;
    Qi[i] = sQi;
}
