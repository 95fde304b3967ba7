// Decodes words of Reed-Solomon (255, 223) over GF(256), a thread for each: syndromes, the polynomial of places by
// Berlekamp and Massey, its roots by Chien's search, values by Forney. Tables of logarithms are in shared memory.
#define LENGTH 255
#define PARITY 32
#define MOST (PARITY / 2)

typedef unsigned char byte;

struct Tables {
    byte exponent[512];
    byte logarithm[256];

    __device__ __forceinline__ byte multiply(byte a, byte b) const {
        return a == 0 || b == 0 ? 0 : exponent[logarithm[a] + logarithm[b]];
    }
    __device__ __forceinline__ byte divide(byte a, byte b) const {
        return a == 0 ? 0 : exponent[logarithm[a] + LENGTH - logarithm[b]];
    }
    // `a` times alpha to `power`.
    __device__ __forceinline__ byte times_power(byte a, int power) const {
        return a == 0 ? 0 : exponent[(logarithm[a] + power) % LENGTH];
    }
};

__device__ void make_tables(Tables &t) {
    if (threadIdx.x == 0) {
        int x = 1;
        for (int i = 0; i < LENGTH; i++) {
            t.exponent[i] = t.exponent[i + LENGTH] = x;
            t.logarithm[x] = i;
            x <<= 1;
            if (x & 0x100)
                x ^= 0x11d;
        }
        t.exponent[510] = 1;
        t.exponent[511] = 2;
        t.logarithm[0] = 0;
    }
    __syncthreads();
}

__device__ bool syndromes_of(const Tables &t, const byte *word, byte (&syndromes)[PARITY]) {
    for (int j = 0; j < PARITY; j++)
        syndromes[j] = 0;
    for (int i = 0; i < LENGTH; i++) {
        byte c = word[i];
        for (int j = 0; j < PARITY; j++)
            syndromes[j] = t.times_power(syndromes[j], j) ^ c;
    }
    int any = 0;
    for (int j = 0; j < PARITY; j++)
        any |= syndromes[j];
    return any != 0;
}

__device__ int berlekamp_massey(const Tables &t, const byte (&syndromes)[PARITY], byte (&lambda)[PARITY + 1]) {
    byte previous[PARITY + 1], saved[PARITY + 1];
    for (int i = 0; i <= PARITY; i++)
        lambda[i] = previous[i] = 0;
    lambda[0] = previous[0] = 1;
    int degree = 0, since = 1;
    byte previous_gap = 1;
    for (int step = 0; step < PARITY; step++) {
        byte gap = syndromes[step];
        for (int i = 1; i <= degree; i++)
            gap ^= t.multiply(lambda[i], syndromes[step - i]);
        if (gap == 0) {
            since++;
            continue;
        }
        byte factor = t.divide(gap, previous_gap);
        bool longer = 2 * degree <= step;
        if (longer)
            for (int i = 0; i <= PARITY; i++)
                saved[i] = lambda[i];
        for (int i = since; i <= PARITY; i++)
            lambda[i] ^= t.multiply(factor, previous[i - since]);
        if (longer) {
            for (int i = 0; i <= PARITY; i++)
                previous[i] = saved[i];
            degree = step + 1 - degree;
            previous_gap = gap;
            since = 1;
        } else {
            since++;
        }
    }
    return degree;
}

extern "C" __global__ void rs_decode(byte *words, signed char *status, int *corrected, int n) {
    __shared__ Tables t;
    make_tables(t);
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n)
        return;
    byte *word = words + (size_t)id * LENGTH;
    byte syndromes[PARITY], lambda[PARITY + 1];
    if (!syndromes_of(t, word, syndromes)) {
        status[id] = 0;
        return;
    }
    int errors = berlekamp_massey(t, syndromes, lambda);
    if (errors > MOST) {
        status[id] = -1;
        return;
    }
    // roots: the byte at `place` has the locator alpha^(254 - place)
    int places[MOST], found = 0;
    for (int power = 0; power < LENGTH && found < errors; power++) {
        byte sum = 1;
        for (int i = 1; i <= errors; i++)
            sum ^= t.times_power(lambda[i], (LENGTH - power) * i);
        if (sum == 0)
            places[found++] = power;
    }
    if (found != errors) {
        status[id] = -1;
        return;
    }
    byte omega[MOST];
    for (int i = 0; i < errors; i++) {
        byte sum = syndromes[i];
        for (int j = 1; j <= i; j++)
            sum ^= t.multiply(lambda[j], syndromes[i - j]);
        omega[i] = sum;
    }
    for (int k = 0; k < errors; k++) {
        int inverse = LENGTH - places[k];
        byte above = 0, below = 0;
        for (int i = 0; i < errors; i++)
            above ^= t.times_power(omega[i], inverse * i);
        for (int i = 1; i <= errors; i += 2)
            below ^= t.times_power(lambda[i], inverse * (i - 1));
        word[LENGTH - 1 - places[k]] ^= t.times_power(t.divide(above, below), places[k]);
    }
    status[id] = errors;
    atomicAdd(corrected, errors);
}
