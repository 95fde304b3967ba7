// Jaro and Winkler's similarity of names that are sought and names of a list, strings of fixed pitch; then which
// one is the most similar.
#define MAX_NAME 16

__device__ int string_length(const char *s) {
    int n = 0;
    while (n < MAX_NAME && s[n] != '\0')
        n++;
    return n;
}

__device__ double jaro_winkler(const char *a, const char *b) {
    int la = string_length(a), lb = string_length(b);
    if (la == 0 || lb == 0)
        return 0.0;
    int window = max(la, lb) / 2 - 1;
    bool a_matched[MAX_NAME] = {false};
    bool b_matched[MAX_NAME] = {false};
    int matches = 0;
    for (int i = 0; i < la; i++) {
        int low = max(0, i - window), high = min(lb - 1, i + window);
        for (int j = low; j <= high; j++) {
            if (!b_matched[j] && a[i] == b[j]) {
                a_matched[i] = true;
                b_matched[j] = true;
                matches++;
                break;
            }
        }
    }
    if (matches == 0)
        return 0.0;
    double transpositions = 0;
    int k = 0;
    for (int i = 0; i < la; i++) {
        if (!a_matched[i])
            continue;
        while (!b_matched[k])
            k++;
        if (a[i] != b[k])
            transpositions += 0.5;
        k++;
    }
    double m = matches;
    double jaro = (m / la + m / lb + (m - transpositions) / m) / 3.0;
    int prefix = 0;
    while (prefix < 4 && prefix < la && prefix < lb && a[prefix] == b[prefix])
        prefix++;
    return jaro + prefix * 0.1 * (1.0 - jaro);
}

extern "C" __global__ void jaro(const char *sought, int num_sought, const char *names, int num_names, float *score) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int s = blockIdx.y * blockDim.y + threadIdx.y;
    if (n < num_names && s < num_sought)
        score[s * num_names + n] = jaro_winkler(sought + s * MAX_NAME, names + n * MAX_NAME);
}

extern "C" __global__ void best_match(const float *score, int num_sought, int num_names, int *best,
                                      float *best_score) {
    int s = threadIdx.x + blockIdx.x * blockDim.x;
    if (s < num_sought) {
        int where = 0;
        for (int n = 1; n < num_names; n++)
            if (score[s * num_names + n] > score[s * num_names + where])
                where = n;
        best[s] = where;
        best_score[s] = score[s * num_names + where];
    }
}
