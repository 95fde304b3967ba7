#include "native.h"
enum { LETTERS = 5, PATTERNS = 243 };

static inline int pattern(const char *restrict guess, const char *restrict answer) {
    static const uchar power[LETTERS] = {81, 27, 9, 3, 1};
    int code = 0, free = 0, open = 0;
    for (int i = 0; i < LETTERS; i++) {
        int same = guess[i] == answer[i];
        code += 2 * power[i] * same;
        free |= !same << i;
    }
    open = free;
    for (int i = 0; i < LETTERS; i++) {
        int match = 0;
        for (int j = 0; j < LETTERS; j++)
            match |= (guess[i] == answer[j]) << j;
        match &= (open >> i & 1) ? free : 0;
        code += match ? power[i] : 0;
        free &= ~(match & -match);
    }
    return code;
}

void run(const char *restrict guesses, const char *restrict answers, float *restrict information,
         int *restrict largest, int *restrict best, int num_guesses, int num_answers) {
    int first = 0;
    for (int g = 0; g < num_guesses; g++) {
        int count[PATTERNS] = {0}, most = 0;
        for (int a = 0; a < num_answers; a++)
            count[pattern(guesses + g * LETTERS, answers + a * LETTERS)]++;
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
}
