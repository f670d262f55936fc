/* Privacy-loss distributions on a grid of losses j h: discretisations that bound the hockey-stick divergence from above
 * (connect the dots) and from below (merged outcomes). */
#ifndef RIEMDP_ACCOUNTANT_PLD_H
#define RIEMDP_ACCOUNTANT_PLD_H

#include "ground.h"

/* A pair of laws by a coordinate z in which the loss log dP/dQ grows: Gaussian (P a mixture of N(move, 1), moves positive, Q =
 * N(0, 1); with one move the loss is linear), or the smooth part of the Laplace law (z is the loss, between minus and plus the
 * largest loss), or (1 - q) N(0, 1) + q N(size, 1) against (1 - q) N(0, 1) + q N(-size, 1), z as it stands. */
enum pld_family { PLD_GAUSSIAN, PLD_LAPLACE, PLD_EXCHANGE, PLD_FAMILIES };

/* The pair after sampling: (1 - q) Q + q P against Q, or with `enter` Q against (1 - q) Q + q P. */
struct pld_pair {
    enum pld_family family;
    double size;    /* the largest move, or the largest loss */
    double q, rest; /* rest is 1 - q, which for a mixture is known better than q tells */
    int enter;
    size_t kinds; /* of moves, with their weights and those's logarithms; share is room for as many numbers */
    const double *moves, *weights, *logs;
    double *share;
    double from, to; /* z outside counts for nothing here: the caller accounts for it */
};

/* Mass on the grid points first, ..., first + bins of the losses between them (out: bins + 1 numbers, zeroed here). */
void pld_connect(const struct pld_pair *pair, double h, double first, size_t bins, double *out, struct host *host);
/* The same losses as `parts` merged outcomes a bin: loss and mass, `bins * parts` numbers each, mass 0 where empty. */
void pld_merge_cells(const struct pld_pair *pair, double h, double first, size_t bins, size_t parts, double *loss,
                     double *mass, struct host *host);
/* n outcomes sorted by loss, merged into the grid points first, ..., first + bins so that the loss of every merged outcome is at
 * most that of all that went in together; first h is below all losses. Groups are made from the lowest loss up or, with `down`,
 * from the highest down: at the first end nothing is lost. */
void pld_merge(size_t n, const double *loss, const double *mass, double h, double first, size_t bins, int down,
               double *out, struct host *host);

#endif
