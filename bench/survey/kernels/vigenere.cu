// A Vigenere cipher and its breaking: letters shifted by a key, the coincidences of each key length (a thread
// each, through the whole text), then the shift of each place of the key that looks most like English.
__constant__ double english[26] = {8.167, 1.492, 2.782, 4.253, 12.702, 2.228, 2.015, 6.094, 6.966,
                                   0.153, 0.772, 4.025, 2.406, 6.749,  7.507, 1.929, 0.095, 5.987,
                                   6.327, 9.056, 2.758, 0.978, 2.360,  0.150, 1.974, 0.074};

extern "C" __global__ void encrypt(char *text, char *out, int n, char *key, int key_length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        char c = text[i];
        int shift = key[i % key_length] - 'a';
        if (c >= 'a' && c <= 'z')
            c = (c - 'a' + shift) % 26 + 'a';
        else if (c >= 'A' && c <= 'Z')
            c = (c - 'A' + shift) % 26 + 'A';
        out[i] = c;
    }
}

__device__ int letter(char c) {
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    return -1;
}

extern "C" __global__ void letters(char *text, int n, int *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int l = letter(text[i]);
        if (l >= 0)
            atomicAdd(&counts[l], 1);
    }
}

extern "C" __global__ void coincidence(char *text, int n, double *index, int max_length) {
    int length = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (length > max_length)
        return;
    double sum = 0;
    for (int start = 0; start < length; start++) {
        int counts[26] = {0}, total = 0;
        for (int i = start; i < n; i += length) {
            int l = letter(text[i]);
            if (l < 0)
                continue;
            counts[l]++;
            total++;
        }
        double same = 0;
        for (int l = 0; l < 26; l++)
            same += (double)counts[l] * (counts[l] - 1);
        if (total > 1)
            sum += same / ((double)total * (total - 1));
    }
    index[length - 1] = sum / length;
}

extern "C" __global__ void guess_key(char *text, int n, char *guess, int key_length) {
    int place = threadIdx.x;
    if (place >= key_length)
        return;
    int counts[26] = {0}, total = 0;
    for (int i = place; i < n; i += key_length) {
        int l = letter(text[i]);
        if (l >= 0) {
            counts[l]++;
            total++;
        }
    }
    double least = 1e300;
    int best = 0;
    for (int shift = 0; shift < 26; shift++) {
        double chi = 0;
        for (int l = 0; l < 26; l++) {
            double wanted = english[l] / 100 * total;
            chi += pow(counts[(l + shift) % 26] - wanted, 2) / wanted;
        }
        if (chi < least) {
            least = chi;
            best = shift;
        }
    }
    guess[place] = 'a' + best;
}
