// Naive Bayes for texts: the logarithms of a word for all classes lie together.
#include "native.h"
enum { PAD = 8 };

#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern double log(double);
#endif

void run(const int *restrict start, const unsigned short *restrict words, const uchar *restrict label,
         const int *restrict test_start, const unsigned short *restrict test_words, int *restrict word_count,
         int *restrict class_words, int *restrict class_docs, double *restrict score, uchar *restrict guess,
         int train_docs, int docs, int classes, int vocabulary) {
    for (int d = 0; d < train_docs; d++) {
        int c = label[d], *restrict count = word_count + c * vocabulary;
        class_docs[c]++;
        class_words[c] += start[d + 1] - start[d];
        for (int k = start[d]; k < start[d + 1]; k++)
            count[words[k]]++;
    }
    double(*restrict logs)[PAD] = calloc(vocabulary, sizeof *logs), prior[PAD] = {0};
    for (int c = 0; c < classes; c++) {
        double all = class_words[c] + vocabulary;
        prior[c] = log((double)class_docs[c] / train_docs);
#pragma omp simd
        for (int v = 0; v < vocabulary; v++)
            logs[v][c] = log((word_count[c * vocabulary + v] + 1.0) / all);
    }
    for (int d = 0; d < docs; d++) {
        double sum[PAD];
        memcpy(sum, prior, sizeof sum);
        for (int k = test_start[d]; k < test_start[d + 1]; k++) {
            const double *restrict add = logs[test_words[k]];
#pragma omp simd
            for (int c = 0; c < PAD; c++)
                sum[c] += add[c];
        }
        int best = 0;
        for (int c = 0; c < classes; c++) {
            score[d * classes + c] = sum[c];
            if (sum[c] > sum[best])
                best = c;
        }
        guess[d] = best;
    }
    free(logs);
}
