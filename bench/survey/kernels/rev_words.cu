// Lines of text, a thread each: their words in reverse order; then whether a line is a palindrome (letters
// only, case ignored), and its longest word.
__device__ void reverse(char *s, int from, int to) {
    while (from < to) {
        char t = s[from];
        s[from] = s[to];
        s[to] = t;
        from++;
        to--;
    }
}

extern "C" __global__ void rev_words(const char *text, const int *start, char *out, int lines) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lines)
        return;
    int length = start[i + 1] - start[i] - 1;  // without the '\n'
    char *line = out + start[i];
    for (int k = 0; k <= length; k++)
        line[k] = text[start[i] + k];
    reverse(line, 0, length - 1);
    int word = 0;
    for (int k = 0; k <= length; k++)
        if (k == length || line[k] == ' ') {
            reverse(line, word, k - 1);
            word = k + 1;
        }
}

__device__ bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

__device__ char lower(char c) {
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

extern "C" __global__ void line_facts(const char *text, const int *start, bool *palindrome, short *longest,
                                      int lines) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lines)
        return;
    int a = start[i], b = start[i + 1] - 2;
    bool same = true;
    while (a < b) {
        if (!is_letter(text[a])) {
            a++;
        } else if (!is_letter(text[b])) {
            b--;
        } else {
            if (lower(text[a]) != lower(text[b])) {
                same = false;
                break;
            }
            a++;
            b--;
        }
    }
    palindrome[i] = same;
    short most = 0, now = 0;
    for (int k = start[i]; text[k] != '\n'; k++) {
        now = is_letter(text[k]) ? now + 1 : 0;
        if (now > most)
            most = now;
    }
    longest[i] = most;
}
