// Energies of docking: a ligand in many poses by a protein, with steric, charge and desolvation terms; each thread
// has two poses, a block's width apart.
#define NUM_TD_PER_THREAD 2
#define ZERO 0.0f
#define QUARTER 0.25f
#define HALF 0.5f
#define ONE 1.0f
#define FOUR 4.0f
#define CNSTNT 45.0f
#define HBTYPE_F 70
#define HBTYPE_E 69
#define HARDNESS 38.0f
#define NPNPDIST 5.5f
#define NPPDIST 1.0f

struct Atom {
    float x, y, z;
    int type;
};

struct FFParams {
    int hbtype;
    float radius, hphb, elsc;
};

struct Transforms {
    const float *angle[3], *shift[3];
};

template <int PPWI>
__device__ void fasten(int natlig, int natpro, const Atom *__restrict__ protein, const Atom *__restrict__ ligand,
                       const Transforms &t, float *__restrict__ energies, const FFParams *forcefield, int nposes) {
    int ix = blockIdx.x * blockDim.x * PPWI + threadIdx.x;
    const int width = blockDim.x;

    float etot[PPWI];
    float transform[PPWI][3][4];
#pragma unroll
    for (int i = 0; i < PPWI; i++) {
        int index = min(ix + i * width, nposes - 1);
        const float sx = sinf(t.angle[0][index]), cx = cosf(t.angle[0][index]);
        const float sy = sinf(t.angle[1][index]), cy = cosf(t.angle[1][index]);
        const float sz = sinf(t.angle[2][index]), cz = cosf(t.angle[2][index]);
        transform[i][0][0] = cy * cz;
        transform[i][0][1] = sx * sy * cz - cx * sz;
        transform[i][0][2] = cx * sy * cz + sx * sz;
        transform[i][0][3] = t.shift[0][index];
        transform[i][1][0] = cy * sz;
        transform[i][1][1] = sx * sy * sz + cx * cz;
        transform[i][1][2] = cx * sy * sz - sx * cz;
        transform[i][1][3] = t.shift[1][index];
        transform[i][2][0] = -sy;
        transform[i][2][1] = sx * cy;
        transform[i][2][2] = cx * cy;
        transform[i][2][3] = t.shift[2][index];
        etot[i] = ZERO;
    }

    for (int il = 0; il < natlig; il++) {
        const Atom l_atom = ligand[il];
        const FFParams l_params = forcefield[l_atom.type];
        const bool lhphb_ltz = l_params.hphb < ZERO;
        const bool lhphb_gtz = l_params.hphb > ZERO;
        float lx[PPWI], ly[PPWI], lz[PPWI];
#pragma unroll
        for (int i = 0; i < PPWI; i++) {
            const float(*m)[4] = transform[i];
            lx[i] = m[0][3] + l_atom.x * m[0][0] + l_atom.y * m[0][1] + l_atom.z * m[0][2];
            ly[i] = m[1][3] + l_atom.x * m[1][0] + l_atom.y * m[1][1] + l_atom.z * m[1][2];
            lz[i] = m[2][3] + l_atom.x * m[2][0] + l_atom.y * m[2][1] + l_atom.z * m[2][2];
        }
        for (int ip = 0; ip < natpro; ip++) {
            const Atom p_atom = protein[ip];
            const FFParams p_params = forcefield[p_atom.type];
            const float radij = p_params.radius + l_params.radius;
            const float r_radij = ONE / radij;
            const float elcdst = (p_params.hbtype == HBTYPE_F && l_params.hbtype == HBTYPE_F) ? FOUR : 2.0f;
            const float elcdst1 =
                (p_params.hbtype == HBTYPE_F && l_params.hbtype == HBTYPE_F) ? QUARTER : HALF;
            const bool type_E = (p_params.hbtype == HBTYPE_E || l_params.hbtype == HBTYPE_E);
            const bool phphb_ltz = p_params.hphb < ZERO;
            const bool phphb_gtz = p_params.hphb > ZERO;
            const bool phphb_nz = p_params.hphb != ZERO;
            const float p_hphb = p_params.hphb * (phphb_ltz && lhphb_gtz ? -ONE : ONE);
            const float l_hphb = l_params.hphb * (phphb_gtz && lhphb_ltz ? -ONE : ONE);
            const float distdslv = phphb_ltz ? (lhphb_ltz ? NPNPDIST : NPPDIST) : (lhphb_ltz ? NPPDIST : -1e30f);
            const float r_distdslv = ONE / distdslv;
            const float chrg_init = l_params.elsc * p_params.elsc;
            const float dslv_init = p_hphb + l_hphb;
#pragma unroll
            for (int i = 0; i < PPWI; i++) {
                const float x = lx[i] - p_atom.x, y = ly[i] - p_atom.y, z = lz[i] - p_atom.z;
                const float distij = sqrtf(x * x + y * y + z * z);
                const float distbb = distij - radij;
                const bool zone1 = distbb < ZERO;
                etot[i] += (ONE - distij * r_radij) * (zone1 ? 2 * HARDNESS : ZERO);
                float chrg_e = chrg_init * ((zone1 ? ONE : (ONE - distbb * elcdst1)) * (distbb < elcdst ? ONE : ZERO));
                const float neg_chrg_e = -fabsf(chrg_e);
                chrg_e = type_E ? neg_chrg_e : chrg_e;
                etot[i] += chrg_e * CNSTNT;
                const float coeff = ONE - distbb * r_distdslv;
                float dslv_e = dslv_init * ((distbb < distdslv && phphb_nz) ? ONE : ZERO);
                dslv_e *= zone1 ? ONE : coeff;
                etot[i] += dslv_e;
            }
        }
    }
#pragma unroll
    for (int i = 0; i < PPWI; i++)
        if (ix + i * width < nposes)
            energies[ix + i * width] = etot[i] * HALF;
}

extern "C" __global__ void bude(int natlig, int natpro, const Atom *__restrict__ protein,
                                const Atom *__restrict__ ligand, const float *a0, const float *a1, const float *a2,
                                const float *t0, const float *t1, const float *t2, float *__restrict__ energies,
                                const FFParams *__restrict__ global_forcefield, int num_types, int nposes) {
    extern __shared__ FFParams forcefield[];
    for (int k = threadIdx.x; k < num_types; k += blockDim.x)
        forcefield[k] = global_forcefield[k];
    __syncthreads();
    if (blockIdx.x * blockDim.x * NUM_TD_PER_THREAD + threadIdx.x >= nposes)
        return;
    Transforms t = {{a0, a1, a2}, {t0, t1, t2}};
    fasten<NUM_TD_PER_THREAD>(natlig, natpro, protein, ligand, t, energies, forcefield, nposes);
}
