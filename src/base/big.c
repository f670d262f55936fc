#include "big.h"

void big_trim(struct big *a)
{
    while (a->n > 0 && a->w[a->n - 1] == 0)
        a->n--;
}

void big_set(struct big *a, uint64_t x)
{
    a->w[0] = (uint32_t)x;
    a->w[1] = (uint32_t)(x >> 32);
    a->n = 2;
    big_trim(a);
}

void big_copy(struct big *a, const struct big *b)
{
    a->n = b->n;
    for (int i = 0; i < b->n; i++)
        a->w[i] = b->w[i];
}

/* the low 64 bits */
uint64_t big_low(const struct big *a)
{
    return (a->n > 0 ? a->w[0] : 0) | (uint64_t)(a->n > 1 ? a->w[1] : 0) << 32;
}

int big_bits(const struct big *a)
{
    int bits = 32 * a->n;
    if (a->n > 0)
        for (uint32_t top = a->w[a->n - 1]; !(top >> 31); top <<= 1)
            bits--;
    return bits;
}

int big_compare(const struct big *a, const struct big *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (int i = a->n; i-- > 0;)
        if (a->w[i] != b->w[i])
            return a->w[i] < b->w[i] ? -1 : 1;
    return 0;
}

void big_add(struct big *a, const struct big *b)
{
    uint64_t carry = 0;
    int n = a->n > b->n ? a->n : b->n;
    for (int i = 0; i < n; i++) {
        carry += (uint64_t)(i < a->n ? a->w[i] : 0) + (i < b->n ? b->w[i] : 0);
        a->w[i] = (uint32_t)carry;
        carry >>= 32;
    }
    a->n = n;
    if (carry)
        a->w[a->n++] = (uint32_t)carry;
}

void big_add_small(struct big *a, uint64_t x)
{
    struct big b;
    big_set(&b, x);
    big_add(a, &b);
}

/* a -= b, where a >= b */
void big_subtract(struct big *a, const struct big *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < a->n; i++) {
        uint64_t t = (uint64_t)a->w[i] - (i < b->n ? b->w[i] : 0) - borrow;
        a->w[i] = (uint32_t)t;
        borrow = t >> 63;
    }
    big_trim(a);
}

/* out is neither a nor b */
void big_multiply(struct big *out, const struct big *a, const struct big *b)
{
    out->n = a->n + b->n;
    for (int i = 0; i < out->n; i++)
        out->w[i] = 0;
    for (int i = 0; i < a->n; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->n; j++) {
            carry += (uint64_t)a->w[i] * b->w[j] + out->w[i + j];
            out->w[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        out->w[i + b->n] = (uint32_t)carry;
    }
    big_trim(out);
}

void big_multiply_small(struct big *a, uint64_t x)
{
    struct big b, c;
    big_set(&b, x);
    big_multiply(&c, a, &b);
    big_copy(a, &c);
}

void big_square(struct big *a)
{
    struct big c;
    big_multiply(&c, a, a);
    big_copy(a, &c);
}

void big_shift_left(struct big *a, int bits)
{
    int digits = bits / 32;
    bits %= 32;
    if (a->n == 0)
        return;
    a->w[a->n] = 0;
    for (int i = a->n; i >= 0; i--)
        a->w[i + digits] = a->w[i] << bits | (bits && i > 0 ? a->w[i - 1] >> (32 - bits) : 0);
    for (int i = 0; i < digits; i++)
        a->w[i] = 0;
    a->n += digits + 1;
    big_trim(a);
}

void big_halve(struct big *a)
{
    for (int i = 0; i < a->n; i++)
        a->w[i] = a->w[i] >> 1 | (i + 1 < a->n ? a->w[i + 1] << 31 : 0);
    big_trim(a);
}

/* a becomes floor(a/b), b > 0 */
void big_divide(struct big *a, const struct big *b)
{
    struct big shifted, quotient;
    int shift = big_bits(a) - big_bits(b);
    quotient.n = 0;
    if (shift >= 0) {
        big_copy(&shifted, b);
        big_shift_left(&shifted, shift);
        for (; shift >= 0; shift--) {
            big_shift_left(&quotient, 1);
            if (big_compare(a, &shifted) >= 0) {
                big_subtract(a, &shifted);
                big_add_small(&quotient, 1);
            }
            big_halve(&shifted);
        }
    }
    big_copy(a, &quotient);
}

/* a becomes floor(sqrt(a)), one binary digit at a time */
void big_root(struct big *a)
{
    struct big root, bit, sum;
    int bits = big_bits(a);
    root.n = 0;
    big_set(&bit, 1);
    big_shift_left(&bit, bits > 0 ? (bits - 1) & ~1 : 0);
    while (bit.n > 0) {
        big_copy(&sum, &root);
        big_add(&sum, &bit);
        big_halve(&root);
        if (big_compare(a, &sum) >= 0) {
            big_subtract(a, &sum);
            big_add(&root, &bit);
        }
        big_halve(&bit);
        big_halve(&bit);
    }
    big_copy(a, &root);
}
