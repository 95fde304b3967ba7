// Card records: Luhn's check, the issuer by prefix and length, expiry, and a new limit.
#include "native.h"

typedef struct {
    char digits[20];
    short expiry;
    char valid, issuer;
    double limit;
} Card;

static char find_issuer(const char *d, int n) {
    if (n < 13)
        return '?';
    int two = (d[0] - '0') * 10 + d[1] - '0', four = two * 100 + (d[2] - '0') * 10 + d[3] - '0';
    switch (n) {
    case 13:
    case 19:
        return d[0] == '4' ? 'V' : '?';
    case 14:
        return two == 36 || two == 38 ? 'C' : '?';
    case 15:
        return two == 34 || two == 37 ? 'A' : '?';
    case 16:
        if (d[0] == '4')
            return 'V';
        if ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720))
            return 'M';
        return two == 35 ? 'J' : four == 6011 || two == 65 ? 'D' : '?';
    }
    return '?';
}

void run(Card *restrict list, int *restrict by_issuer, ull *restrict total, int n, int today) {
    static const uchar twice[10] = {0, 2, 4, 6, 8, 1, 3, 5, 7, 9};
    ull cents = 0;
    for (int i = 0; i < n; i++) {
        Card *card = list + i;
        int digits = 0, sum = 0;
        while (digits < 20 && (uchar)(card->digits[digits] - '0') < 10)
            digits++;
        card->issuer = find_issuer(card->digits, digits);
        card->valid = 0;
        if (card->issuer != '?' && card->expiry >= today) {
            for (int k = digits - 1; k >= 0; k -= 2)
                sum += card->digits[k] - '0';
            for (int k = digits - 2; k >= 0; k -= 2)
                sum += twice[card->digits[k] - '0'];
            card->valid = sum % 10 == 0;
        }
        if (!card->valid) {
            card->limit = 0;
            continue;
        }
        if (card->issuer == 'A')
            card->limit *= 1.5;
        else if (card->issuer == 'V' || card->issuer == 'M')
            card->limit += 250.25;
        else
            card->limit = MIN(card->limit, 4000);
        by_issuer[card->issuer - 'A']++;
        cents += (ull)(card->limit * 100);
    }
    *total += cents;
}
