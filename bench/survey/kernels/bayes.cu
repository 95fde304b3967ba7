// Naive Bayes for texts: words of each class counted by a thread a document, logarithms of the shares with one
// added, then a thread a document that adds them up for each class.
extern "C" __global__ void bayes_train(const int *start, const unsigned short *words, const unsigned char *label,
                                       int *word_count, int *class_words, int *class_docs, int docs,
                                       int vocabulary) {
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d < docs) {
        int c = label[d];
        atomicAdd(&class_docs[c], 1);
        for (int k = start[d]; k < start[d + 1]; k++) {
            atomicAdd(&word_count[c * vocabulary + words[k]], 1);
            atomicAdd(&class_words[c], 1);
        }
    }
}

extern "C" __global__ void bayes_logs(const int *word_count, const int *class_words, double *logs, int classes,
                                      int vocabulary) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < classes * vocabulary)
        logs[i] = log((word_count[i] + 1.0) / (class_words[i / vocabulary] + vocabulary));
}

extern "C" __global__ void bayes_classify(const int *start, const unsigned short *words, const double *logs,
                                          const int *class_docs, double *score, unsigned char *guess, int docs,
                                          int train_docs, int classes, int vocabulary) {
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d >= docs)
        return;
    int best = 0;
    for (int c = 0; c < classes; c++) {
        score[d * classes + c] = log((double)class_docs[c] / train_docs);
        for (int k = start[d]; k < start[d + 1]; k++)
            score[d * classes + c] += logs[c * vocabulary + words[k]];
        if (score[d * classes + c] > score[d * classes + best])
            best = c;
    }
    guess[d] = best;
}
