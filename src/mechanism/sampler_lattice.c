#include "sampler_lattice.h"

/* ---- exponential and normal numbers whose digits are drawn when asked for -------------------------------------------- */

static void fresh(struct deviate *x)
{
    x->whole = 0;
    x->known = x->negative = 0;
}

static uint32_t digit(struct bits *bits, struct deviate *x, int i)
{
    while (x->known <= i)
        x->digit[x->known++] = bits_take(bits, 32);
    return x->digit[i];
}

/* Fractions compared. Equal in all 256 bits, an event of probability 2^-256, counts as not less. */
static int less(struct bits *bits, struct deviate *x, struct deviate *y)
{
    for (int i = 0; i < DEVIATE_DIGITS; i++) {
        uint32_t a = digit(bits, x, i), b = digit(bits, y, i);
        if (a != b)
            return a < b;
    }
    return 0;
}

/* von Neumann 1951: the length of a decreasing run that starts at the uniform number x is even with probability exp(-x) */
static void exponential(struct bits *bits, struct deviate *x)
{
    struct deviate run[2];
    uint64_t whole = 0;
    for (; whole < (uint64_t)LATTICE_MOST; whole++) {
        int length = 0;
        struct deviate *last = x;
        fresh(x);
        for (;;) {
            struct deviate *next = run + (length & 1);
            fresh(next);
            if (!less(bits, next, last))
                break;
            last = next;
            if (++length > RNG_ROUNDS)
                rng_stuck(bits->rng);
        }
        if (!(length & 1))
            break;
    }
    x->whole = whole;
}

/* r < (2 k + x)/(2 k + 2): the sign of (2 k + 2) r - 2 k - x, digit by digit */
static int below_slope(struct bits *bits, int64_t k, struct deviate *r, struct deviate *x)
{
    int64_t gap = -2 * k, factor = 2 * k + 2;
    for (int i = 0; i < DEVIATE_DIGITS; i++) {
        gap = gap * (INT64_C(1) << 32) + factor * (int64_t)digit(bits, r, i) - (int64_t)digit(bits, x, i);
        /* what follows adds more than -1 and less than `factor` */
        if (gap >= 1)
            return 0;
        if (gap <= -factor)
            return 1;
    }
    return 0;
}

/* exp(-x (2 k + x)/(2 k + 2)), step N4 of Karney's algorithm */
static int normal_tail(struct bits *bits, int64_t k, struct deviate *x)
{
    struct deviate run[2], slope;
    struct deviate *last = x;
    for (int length = 0;; length++) {
        struct deviate *next = run + (length & 1);
        fresh(next);
        if (!less(bits, next, last))
            return !(length & 1);
        fresh(&slope);
        if (!below_slope(bits, k, &slope, x))
            return !(length & 1);
        last = next;
        if (length > RNG_ROUNDS)
            rng_stuck(bits->rng);
    }
}

/* standard normal: Karney 2016, doi:10.1145/2710016, Algorithm N */
static void normal(struct bits *bits, struct deviate *x)
{
    for (int round = 0; round < RNG_ROUNDS; round++) {
        int64_t k = 0, kept = 1, most = INT64_C(1) << 12;
        while (k <= most && bernoulli_exp(bits, 1, 2))
            k++;
        if (k > most) /* probability exp(-2^11) */
            continue;
        for (int64_t i = 0; i < k * (k - 1) && kept; i++)
            kept = bernoulli_exp(bits, 1, 2);
        fresh(x);
        for (int64_t i = 0; i <= k && kept; i++)
            kept = normal_tail(bits, k, x);
        if (!kept)
            continue;
        x->whole = (uint64_t)k;
        x->negative = (int)bits_take(bits, 1);
        return;
    }
    rng_stuck(bits->rng);
}

/* ---- the l2 law ------------------------------------------------------------------------------------------------------ */

/* floor(x 2^(32 digits)) */
static void big_deviate(struct bits *bits, struct big *out, struct deviate *x, int digits)
{
    out->n = digits + 2;
    for (int i = 0; i < digits; i++)
        out->w[digits - 1 - i] = digit(bits, x, i);
    out->w[digits] = (uint32_t)x->whole;
    out->w[digits + 1] = (uint32_t)(x->whole >> 32);
    big_trim(out);
}

/* q = floor(4 x^2) becomes the integer next to x >= 0: floor((floor(2 x) + 1)/2) */
static void nearest(struct big *q)
{
    if (big_bits(q) <= 63)
        big_set(q, integer_root(big_low(q)));
    else
        big_root(q);
    big_add_small(q, 1);
    big_halve(q);
}

/* A draw, as so many digits show it: E, the sum of the d exponentials of the radius, lies between `sum` and `sum` + d, and |g|^2 of
 * the direction's normals between `low` and `high`. e: the exponentials of the radius, then the one of the test. */
struct l2_trial {
    struct bits *bits;
    size_t d;
    struct ratio scale;
    struct deviate *e, *g;
    int digits;
    struct big sum, low, high;
    struct big norm; /* the squared length of what was drawn, also where z holds less */
};

static void l2_sums(struct l2_trial *l)
{
    struct big t, square;
    l->sum.n = l->low.n = l->high.n = 0;
    for (size_t i = 0; i < l->d; i++) {
        big_deviate(l->bits, &t, l->e + i, l->digits);
        big_add(&l->sum, &t);
    }
    for (size_t j = 0; j < l->d; j++) {
        big_deviate(l->bits, &t, l->g + j, l->digits);
        big_multiply(&square, &t, &t);
        big_add(&l->low, &square);
        big_add_small(&t, 1);
        big_multiply(&square, &t, &t);
        big_add(&l->high, &square);
    }
}

/* out = 2 num (x + more) */
static void l2_scaled(struct big *out, const struct big *x, uint64_t more, struct ratio scale)
{
    big_copy(out, x);
    big_add_small(out, more);
    big_multiply_small(out, 2);
    big_multiply_small(out, scale.num);
}

/* x becomes den^2 x, in units of E^2 */
static void l2_denominator(struct big *x, const struct l2_trial *l)
{
    big_multiply_small(x, l->scale.den);
    big_multiply_small(x, l->scale.den);
    big_shift_left(x, 64 * l->digits);
}

/* out = the integer next to the root of x^2 num/den */
static void l2_coordinate(struct big *out, const struct big *x, const struct big *num, const struct big *den)
{
    struct big square;
    big_multiply(&square, x, x);
    big_multiply(out, &square, num);
    big_divide(out, den);
    nearest(out);
}

/* Fills z, and its squared length; 0 where more digits are needed. x_j^2 = (num/den)^2 E^2 g_j^2/sum g^2: the units of the g
 * cancel, those of E go to the denominator. */
static int l2_round(struct l2_trial *l, int64_t *z, struct big *norm)
{
    struct big num, num_more, t, near, near_more;
    norm->n = 0;
    if (l->low.n == 0)
        return 0;
    l2_denominator(&l->low, l);
    l2_denominator(&l->high, l);
    l2_scaled(&num, &l->sum, 0, l->scale);
    big_square(&num);
    l2_scaled(&num_more, &l->sum, l->d, l->scale);
    big_square(&num_more);
    for (size_t j = 0; j < l->d; j++) {
        big_deviate(l->bits, &t, l->g + j, l->digits);
        l2_coordinate(&near, &t, &num, &l->high);
        big_add_small(&t, 1);
        l2_coordinate(&near_more, &t, &num_more, &l->low);
        if (big_compare(&near, &near_more) != 0)
            return 0;
        z[j] = big_bits(&near) > 62 ? LATTICE_MOST : (int64_t)big_low(&near);
        if (l->g[j].negative)
            z[j] = -z[j];
        big_square(&near);
        big_add(norm, &near);
    }
    return 1;
}

/* whether sqrt(4 |z|^2) + sqrt(d) <= 2 scale (E + e_0): 1, 0 or -1, undecided */
static int l2_test(struct l2_trial *l, struct big *norm)
{
    struct big t, most, least;
    big_shift_left(norm, 2 + 64 * l->digits);
    big_root(norm);
    big_set(&t, l->d);
    big_shift_left(&t, 64 * l->digits);
    big_root(&t);
    big_add(norm, &t);
    big_copy(&t, norm);
    big_add_small(&t, 2);
    big_multiply_small(norm, l->scale.den);
    big_multiply_small(&t, l->scale.den);
    big_deviate(l->bits, &most, l->e + l->d, l->digits);
    big_add(&l->sum, &most);
    l2_scaled(&least, &l->sum, 0, l->scale);
    l2_scaled(&most, &l->sum, l->d + 1, l->scale);
    if (big_compare(&t, &least) <= 0)
        return 1;
    if (big_compare(norm, &most) > 0)
        return 0;
    return -1;
}

/* What is decided with the digits that there are: 1 (accepted, z is filled), 0 (refused) or -1 (more digits are needed). */
static int l2_decide(struct l2_trial *l, int64_t *z)
{
    struct big norm;
    l2_sums(l);
    if (!l2_round(l, z, &l->norm))
        return -1;
    big_copy(&norm, &l->norm);
    return l2_test(l, &norm);
}

/* x has density proportional to exp(-|x|/scale) on R^d: radius scale times a sum of d exponentials, uniform direction. z is x
 * rounded, kept if |z| + sqrt(d)/2 <= |x| + scale e_0: since |x - z| <= sqrt(d)/2 that has probability
 * exp(-(|z| + sqrt(d)/2 - |x|)/scale), and the density cancels; at least exp(-sqrt(d)/(2 scale)) of all are kept. Numbers are intervals of 64, 128, ... bits until all is decided. */
static uint64_t l2_draw(struct l2_trial *l, int64_t *z)
{
    struct bits *bits = l->bits;
    size_t d = l->d;
    struct ratio scale = l->scale;
    /* at most RNG_ROUNDS exp(x) trials, x = sqrt(d)/(2 scale) rounded up */
    uint64_t x = (integer_root(d) + 1) * scale.den / (2 * scale.num) + 1, most = (uint64_t)RNG_ROUNDS << (3 * x + 1) / 2;
    int undecided = 0;
    for (uint64_t trials = 1; trials <= most && undecided < 8; trials++) {
        int kept = -1;
        for (size_t i = 0; i <= d; i++)
            exponential(bits, l->e + i);
        for (size_t j = 0; j < d; j++)
            normal(bits, l->g + j);
        /* undecided after 256 bits, with probability below 2^-150: drawn again */
        for (l->digits = 2; l->digits <= DEVIATE_DIGITS && kept < 0; l->digits += 2)
            kept = l2_decide(l, z);
        if (kept == 1)
            return trials;
        undecided += kept < 0;
    }
    rng_stuck(bits->rng);
    return 0;
}

uint64_t lattice_l2_draw(struct bits *bits, size_t d, struct ratio scale, int64_t *z, struct deviate *work)
{
    struct l2_trial l = {.bits = bits, .d = d, .scale = scale, .e = work, .g = work + d + 1};
    return l2_draw(&l, z);
}

/* ---- shells ---------------------------------------------------------------------------------------------------------- */

/* the outer edge of the shell in which a point of squared length `norm` lies */
static void shell_edge(const struct big *norm, struct shells shells, struct big *edge)
{
    struct big width, square;
    big_set(edge, shells.first);
    big_copy(&square, edge);
    big_square(&square);
    if (big_compare(norm, &square) <= 0)
        return;
    /* whole widths that fit in floor(|z|) - first: the edge is there or one width on */
    big_copy(&square, norm);
    big_root(&square);
    big_subtract(&square, edge);
    big_set(&width, shells.width);
    big_divide(&square, &width);
    big_multiply_small(&square, shells.width);
    big_add(edge, &square);
    big_copy(&square, edge);
    big_square(&square);
    if (big_compare(norm, &square) > 0)
        big_add_small(edge, shells.width);
}

/* den |z| and den x in units of 2^(-32 digits): between two numbers, and exactly */
static void scaled_root(const struct big *norm, uint64_t den, int digits, struct big *low, struct big *high)
{
    big_copy(low, norm);
    big_shift_left(low, 64 * digits);
    big_root(low);
    big_copy(high, low);
    big_add_small(high, 1);
    big_multiply_small(low, den);
    big_multiply_small(high, den);
}

static void scaled_whole(const struct big *x, uint64_t den, int digits, struct big *out)
{
    big_copy(out, x);
    big_shift_left(out, 32 * digits);
    big_multiply_small(out, den);
}

/* true with probability exp(-(edge - |z|)/scale): whether |z| + scale e >= edge for an exponential e; -1: undecided */
static int shell_test(struct bits *bits, const struct big *norm, const struct big *edge, struct ratio scale,
                      struct deviate *e, int digits)
{
    struct big low, high, t;
    scaled_root(norm, scale.den, digits, &low, &high);
    big_deviate(bits, &t, e, digits);
    big_multiply_small(&t, scale.num);
    big_add(&low, &t);
    big_add(&high, &t);
    big_add_small(&high, scale.num);
    scaled_whole(edge, scale.den, digits, &t);
    return big_compare(&low, &t) >= 0 ? 1 : big_compare(&high, &t) < 0 ? 0 : -1;
}

typedef int kept_test(struct bits *bits, const struct big *norm, const struct big *edge, struct ratio scale,
                      struct deviate *e, int digits);

/* by as many digits as it takes; -1: undecided with all of them */
static int kept_by(kept_test *test, struct bits *bits, const struct big *norm, const struct big *edge,
                   struct ratio scale, struct deviate *e)
{
    int kept = -1;
    exponential(bits, e);
    for (int digits = 2; digits <= DEVIATE_DIGITS && kept < 0; digits += 2)
        kept = test(bits, norm, edge, scale, e, digits);
    return kept;
}

/* A draw of the l2 law, kept with probability exp(-(edge - |z|)/scale), where `edge` is that of its shell: at least
 * exp(-width/scale). */
uint64_t lattice_staircase_draw(struct bits *bits, size_t d, struct ratio scale, struct shells shells, int64_t *z,
                                struct deviate *work)
{
    struct l2_trial l = {.bits = bits, .d = d, .scale = scale, .e = work, .g = work + d + 1};
    uint64_t trials = 0;
    int undecided = 0;
    for (uint64_t round = 0; round < (uint64_t)RNG_ROUNDS << 18 && undecided < 8; round++) {
        struct big edge;
        trials += l2_draw(&l, z);
        shell_edge(&l.norm, shells, &edge);
        int kept = kept_by(shell_test, bits, &l.norm, &edge, scale, work);
        if (kept == 1)
            return trials;
        undecided += kept < 0;
    }
    rng_stuck(bits->rng);
    return 0;
}

/* ---- a count and a vector together ------------------------------------------------------------------------------------ */

/* true with probability exp(-(|z| - far)/scale), |z| >= far: whether far + scale e >= |z| for an exponential e; -1: undecided */
static int cylinder_test(struct bits *bits, const struct big *norm, const struct big *far, struct ratio scale,
                         struct deviate *e, int digits)
{
    struct big low, high, t, more;
    scaled_root(norm, scale.den, digits, &low, &high);
    scaled_whole(far, scale.den, digits, &t);
    big_deviate(bits, &more, e, digits);
    big_multiply_small(&more, scale.num);
    big_add(&t, &more);
    if (big_compare(&high, &t) <= 0)
        return 1;
    big_add_small(&t, scale.num);
    return big_compare(&low, &t) > 0 ? 0 : -1;
}

/* Whether |z| and far = edge |t| are kept, both proposed by themselves: with what takes the sum of their shares to the larger one, and
 * that to its shell's outer edge; -1: undecided */
static int cylinder_kept(struct bits *bits, const struct big *norm, const struct big *far, struct ratio scale, size_t d,
                         struct shells shells, struct deviate *e)
{
    struct big square, outer;
    big_copy(&square, far);
    big_square(&square);
    int flat = big_compare(&square, norm) >= 0;
    struct ratio wide = {scale.num * (d + 1), flat ? scale.den * d : scale.den};
    int kept = kept_by(flat ? shell_test : cylinder_test, bits, norm, far, wide, e);
    if (kept != 1 || shells.width == 0)
        return kept;
    shell_edge(flat ? &square : norm, shells, &outer);
    return kept_by(shell_test, bits, flat ? &square : norm, &outer, scale, e);
}

static void cylinder_far(struct big *far, int64_t t, uint64_t edge)
{
    big_set(far, (uint64_t)(t < 0 ? -t : t));
    big_multiply_small(far, edge);
}

/* t is proposed with scale (d + 1)/edge, z with scale (d + 1)/d, in units of `scale`: together
 * exp(-(edge |t| + d |z|)/((d + 1) scale)). The larger of edge |t| and |z| exceeds that mean by d/(d + 1) of their
 * difference where it is edge |t|, by 1/(d + 1) of it else. */
static uint64_t cylinder_draw(struct l2_trial *l, struct ratio scale, uint64_t edge, struct shells shells, int64_t *t,
                              int64_t *z)
{
    struct ratio along = {scale.num * (l->d + 1), scale.den * edge};
    uint64_t trials = 0;
    int undecided = 0;
    for (uint64_t round = 0; round < (uint64_t)RNG_ROUNDS << 20 && undecided < 8; round++) {
        struct big far;
        *t = discrete_laplace_draw(l->bits, along);
        trials += l2_draw(l, z);
        cylinder_far(&far, *t, edge);
        int kept = cylinder_kept(l->bits, &l->norm, &far, scale, l->d, shells, l->e);
        if (kept == 1)
            return trials;
        undecided += kept < 0;
    }
    rng_stuck(l->bits->rng);
    return 0;
}

/* The last group's vector, of which t is known, or the last count alone: kept with what their share is of that of the
 * proposal, and of 1 */
static int last_kept(struct l2_trial *l, struct ratio scale, uint64_t edge, struct shells shells, int64_t t, int64_t *z)
{
    struct big far, left, den;
    cylinder_far(&far, t, edge);
    big_copy(&left, &far);
    big_multiply_small(&left, scale.den);
    big_set(&den, scale.num);
    if (z)
        big_multiply_small(&den, l->d + 1);
    if (!bernoulli_exp_big(l->bits, &left, &den))
        return 0;
    if (!z)
        return 1;
    l2_draw(l, z);
    return cylinder_kept(l->bits, &l->norm, &far, scale, l->d, shells, l->e) == 1;
}

uint64_t lattice_joint_draw(struct bits *bits, size_t d, size_t groups, int rest, struct ratio scale, uint64_t edge,
                            struct shells shells, int64_t *t, int64_t *z, struct deviate *work)
{
    const int64_t most = INT64_C(1) << 57; /* the sum of 16 counts fits */
    struct ratio across = {scale.num * (d + 1), scale.den * d};
    struct l2_trial l = {.bits = bits, .d = d, .scale = across, .e = work, .g = work + d + 1};
    size_t last = groups - 1 + (rest != 0);
    uint64_t trials = 0;
    for (uint64_t round = 0; round < (uint64_t)RNG_ROUNDS << 16; round++) {
        int64_t sum = 0;
        int far = 0;
        for (size_t j = 0; j < last; j++) {
            trials += cylinder_draw(&l, scale, edge, shells, &t[j], z + j * d);
            far |= t[j] > most || t[j] < -most;
            sum += far ? 0 : t[j];
        }
        t[last] = -sum;
        if (!far && last_kept(&l, scale, edge, shells, -sum, rest ? NULL : z + last * d))
            return trials;
    }
    rng_stuck(bits->rng);
    return trials;
}
