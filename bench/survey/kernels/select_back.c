// A partition: chosen trades in order from the front, the others from the back
#include "native.h"

typedef struct {
    int account;
    float amount;
} Trade;

void run(const Trade *restrict trades, Trade *restrict out, uint *restrict total, int n, float low, float high,
         int branch) {
    int front = 0, back = n - 1;
    for (int i = 0; i < n; i++) {
        Trade t = trades[i];
        int yes = (t.amount >= low) & (t.amount < high) & ((t.account & 7) != branch);
        out[yes ? front : back] = t;
        front += yes;
        back -= !yes;
    }
    *total = front;
}
