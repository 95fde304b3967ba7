#include "native.h"
enum { LETTERS = 5, PATTERNS = 243 };

// Answers side by side, in vectors of bytes: free are an answer's letters that are not green nor taken by a yellow.
static void patterns(const char *restrict guess, const char *restrict letters, uchar *restrict codes, int n) {
    static const uchar power[LETTERS] = {81, 27, 9, 3, 1};
#pragma omp simd
    for (int a = 0; a < n; a++) {
        uchar code = 0, free = 0;
#pragma GCC unroll 5
        for (int i = 0; i < LETTERS; i++) {
            uchar same = guess[i] == letters[i * n + a];
            code += same ? (uchar)(2 * power[i]) : (uchar)0;
            free |= same ? (uchar)0 : (uchar)(1 << i);
        }
        uchar grey = free;
#pragma GCC unroll 5
        for (int i = 0; i < LETTERS; i++) {
            uchar match = 0;
#pragma GCC unroll 5
            for (int j = 0; j < LETTERS; j++)
                match |= guess[i] == letters[j * n + a] ? (uchar)(1 << j) : (uchar)0;
            match &= free;
            match = grey & (1 << i) ? match : (uchar)0;
            code += match ? power[i] : (uchar)0;
            free &= (uchar)~(match & (uchar)-match);
        }
        codes[a] = code;
    }
}

void run(const char *restrict guesses, const char *restrict answers, float *restrict information,
         int *restrict largest, int *restrict best, int num_guesses, int num_answers) {
    char *letters = malloc(LETTERS * num_answers);
    uchar *codes = malloc(num_answers);
    for (int i = 0; i < LETTERS; i++)
        for (int a = 0; a < num_answers; a++)
            letters[i * num_answers + a] = answers[a * LETTERS + i];
    int first = 0;
    for (int g = 0; g < num_guesses; g++) {
        int count[PATTERNS] = {0}, most = 0;
        patterns(guesses + g * LETTERS, letters, codes, num_answers);
        for (int a = 0; a < num_answers; a++)
            count[codes[a]]++;
        float entropy = 0;
        for (int i = 0; i < PATTERNS; i++)
            if (count[i]) {
                float p = (float)count[i] / num_answers;
                entropy -= p * log(p) / log(2.0);
                most = MAX(most, count[i]);
            }
        information[g] = entropy;
        largest[g] = most;
        first = entropy > information[first] ? g : first;
    }
    *best = first;
    free(letters);
    free(codes);
}
