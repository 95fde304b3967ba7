// A machine of eight registers runs one program for each row of data: a switch over its instructions.
extern "C" __global__ void machine(const uchar4 *__restrict__ program, const float *__restrict__ data,
                                   float *__restrict__ out, int length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float r[8];
    for (int k = 0; k < 8; k++)
        r[k] = data[k * n + i];
    for (int pc = 0; pc < length; pc++) {
        uchar4 op = program[pc];
        float a = r[op.y], b = r[op.z], v;
        switch (op.x) {
        case 0: v = a + b; break;
        case 1: v = a - b; break;
        case 2: v = a * b; break;
        case 3: v = fminf(a, b); break;
        case 4: v = fmaxf(a, b); break;
        case 5: v = fabsf(a); break;
        case 6: v = a > 0 ? b : a; break;
        default: v = a * 0.5f + b; break;
        }
        r[op.w] = v;
    }
    out[i] = r[0];
}
