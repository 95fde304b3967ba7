// A three-rotor Enigma with a word that is thought to be at the start: a thread a position of the rotors; how many
// letters come out as expected, and the best position of all.
__constant__ char wiring[5][27] = {"EKMFLGDQVZNTOWYHXUSPAIBRCJ", "AJDKSIRUXBLHWTMCQGZNPYFVOE",
                                   "BDFHJLCPRTXVZNYEIWGAKMUSQO", "ESOVPZJAYQUIRHXLNFTGKDCMWB",
                                   "VZBRGITYUPSDNHLXAWMJQOFECK"};
__constant__ char notches[6] = "QEVJZ";
__constant__ char reflector[27] = "YRUHQSLDPXNGOKMIEBFZCWVJAT";
__constant__ int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {3, 4, 0}, {4, 2, 3}, {2, 1, 4}};

struct Machine {
    int rotor[3]; // from left to right
    int position[3];
};

__device__ int forward(int rotor, int position, int c) {
    int in = (c + position) % 26;
    return (wiring[rotor][in] - 'A' - position + 26) % 26;
}

__device__ int backward(int rotor, int position, int c) {
    char wanted = 'A' + (c + position) % 26;
    int k = 0;
    while (wiring[rotor][k] != wanted)
        k++;
    return (k - position + 26) % 26;
}

__device__ void step(Machine &m) {
    bool middle = m.position[1] == notches[m.rotor[1]] - 'A';
    bool right = m.position[2] == notches[m.rotor[2]] - 'A';
    if (middle)
        m.position[0] = (m.position[0] + 1) % 26;
    if (middle || right)
        m.position[1] = (m.position[1] + 1) % 26;
    m.position[2] = (m.position[2] + 1) % 26;
}

__device__ char press(Machine &m, char key) {
    step(m);
    int c = key - 'A';
    for (int r = 2; r >= 0; r--)
        c = forward(m.rotor[r], m.position[r], c);
    c = reflector[c] - 'A';
    for (int r = 0; r < 3; r++)
        c = backward(m.rotor[r], m.position[r], c);
    return 'A' + c;
}

extern "C" __global__ void enigma(const char *cipher, const char *crib, int length, unsigned char *score,
                                  unsigned int *best, int settings) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= settings)
        return;
    Machine m;
    int order = id / (26 * 26 * 26), rest = id % (26 * 26 * 26);
    for (int r = 0; r < 3; r++)
        m.rotor[r] = orders[order][r];
    m.position[0] = rest / (26 * 26);
    m.position[1] = rest / 26 % 26;
    m.position[2] = rest % 26;
    int hits = 0, misses = 0;
    for (int k = 0; k < length; k++) {
        if (press(m, cipher[k]) == crib[k])
            hits++;
        else if (++misses > 6)
            break;
    }
    score[id] = hits;
    atomicMax(best, (unsigned)hits << 20 | id);
}
