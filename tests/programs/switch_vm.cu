// Every thread interprets its own little program: a loop around a wide switch.
extern "C" __global__ void run_programs(const unsigned char *programs, int length, const int *inputs, int *results,
                                        int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned char *code = programs + i * length;
    int a = inputs[i], b = i, steps = 0;
    for (int pc = 0; pc >= 0 && pc < length && steps < 100; ++pc, ++steps) {
        switch (code[pc]) {
        case 0: pc = length; break;
        case 1: a += b; break;
        case 2: a -= b; break;
        case 3: a *= 3; break;
        case 4: b ^= a; break;
        case 5: { int t = a; a = b; b = t; break; }
        case 6: a = ~a; break;
        case 7: b += 17; break;
        case 8: a = (int)((unsigned)a << (b & 7)); break;
        case 9: a >>= 1; break;
        case 10: if (a < 0) ++pc; break;
        case 11: pc -= (b & 3); break;
        case 12: a = b ? a % b : 1; break;
        case 13: b = b ? a / b : 2; break;
        case 14: a = min(a, b); break;
        case 15: a += steps; continue;
        default: b = -b;
        }
    }
    results[i] = a ^ (b * 31);
}
