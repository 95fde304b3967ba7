// Soundex codes of names, a thread a name, and how often each code occurs.
#define PITCH 20

struct Name {
    char text[PITCH];
};

struct Code {
    char letter;
    char digit[3];
};

__device__ char to_upper(char c) {
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 'A';
    return c;
}

__device__ int soundex_digit(char c) {
    switch (c) {
    case 'B': case 'F': case 'P': case 'V':
        return 1;
    case 'C': case 'G': case 'J': case 'K': case 'Q': case 'S': case 'X': case 'Z':
        return 2;
    case 'D': case 'T':
        return 3;
    case 'L':
        return 4;
    case 'M': case 'N':
        return 5;
    case 'R':
        return 6;
    case 'H': case 'W':
        return -1; // does not part equal digits
    default:
        return 0;
    }
}

extern "C" __global__ void soundex(const Name *names, Code *codes, int *histogram, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Name name = names[i];
    Code code;
    code.letter = '?';
    for (int k = 0; k < 3; k++)
        code.digit[k] = '0';
    int found = 0, last = 0;
    for (int k = 0; k < PITCH && name.text[k] != 0; k++) {
        char c = to_upper(name.text[k]);
        if (c < 'A' || c > 'Z')
            continue;
        int d = soundex_digit(c);
        if (code.letter == '?') {
            code.letter = c;
            last = d;
            continue;
        }
        if (d == -1)
            continue;
        if (d != 0 && d != last) {
            code.digit[found++] = '0' + d;
            if (found == 3)
                break;
        }
        last = d;
    }
    codes[i] = code;
    if (code.letter != '?') {
        int index = code.letter - 'A';
        for (int k = 0; k < 3; k++)
            index = index * 7 + (code.digit[k] - '0');
        atomicAdd(&histogram[index], 1);
    }
}
