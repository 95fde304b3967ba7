// How good each guess of a word game is: a thread a guess counts which pattern of green, yellow and grey each
// answer would give, then the expected information, and the size of the largest group.
#define LETTERS 5
#define PATTERNS 243

__device__ int pattern(const char *guess, const char *answer) {
    int colour[LETTERS];
    bool used[LETTERS];
    for (int i = 0; i < LETTERS; i++) {
        colour[i] = guess[i] == answer[i] ? 2 : 0;
        used[i] = colour[i] == 2;
    }
    for (int i = 0; i < LETTERS; i++) {
        if (colour[i] == 2)
            continue;
        for (int j = 0; j < LETTERS; j++) {
            if (!used[j] && guess[i] == answer[j]) {
                used[j] = true;
                colour[i] = 1;
                break;
            }
        }
    }
    int code = 0;
    for (int i = 0; i < LETTERS; i++)
        code = code * 3 + colour[i];
    return code;
}

extern "C" __global__ void wordle(const char *guesses, const char *answers, float *information, int *largest,
                                  int num_guesses, int num_answers) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= num_guesses)
        return;
    int count[PATTERNS];
    for (int i = 0; i < PATTERNS; i++)
        count[i] = 0;
    for (int a = 0; a < num_answers; a++)
        count[pattern(guesses + g * LETTERS, answers + a * LETTERS)]++;
    float entropy = 0;
    int most = 0;
    for (int i = 0; i < PATTERNS; i++) {
        if (count[i] == 0)
            continue;
        float p = (float)count[i] / num_answers;
        entropy -= p * log(p) / log(2.0);
        if (count[i] > most)
            most = count[i];
    }
    information[g] = entropy;
    largest[g] = most;
}

// One block: the guess with the most information, of equal ones the first.
extern "C" __global__ void best_guess(const float *information, int *best, int num_guesses) {
    __shared__ float value[100];
    __shared__ int index[100];
    int t = threadIdx.x;
    value[t] = -1.0;
    index[t] = -1;
    for (int g = t; g < num_guesses; g += blockDim.x) {
        if (information[g] > value[t]) {
            value[t] = information[g];
            index[t] = g;
        }
    }
    __syncthreads();
    if (t == 0) {
        for (int i = 1; i < blockDim.x; i++)
            if (index[i] >= 0 && (value[i] > value[0] || (value[i] == value[0] && index[i] < index[0]))) {
                value[0] = value[i];
                index[0] = index[i];
            }
        *best = index[0];
    }
}
