/* What a table says of its manifold, for R. */
#include "ffi.h"
#include "linalg.h"
#include "mean_steps.h"
#include "mechanism.h"

/* facts that init() derived, for constructors and mf_facts() */
static SEXP facts_body(struct call *c, void *data)
{
    const struct manifold *m = &c->m;
    (void)data;
    const struct {
        const char *name;
        double value;
    } number[] = {{"ambient", (double)m->ambient},
                  {"dimension", (double)m->dim},
                  {"rows", (double)m->rows},
                  {"cols", (double)m->cols},
                  {"k_min", m->k_min},
                  {"k_max", m->k_max},
                  {"mean_curvature", m->mean_curvature},
                  {"injectivity_radius", m->inj},
                  {"diameter", m->rho_max},
                  {"volume_growth", m->volume_growth}};
    const struct {
        const char *name;
        int value;
    } flag[] = {{"homogeneous", (m->flags & MANIFOLD_HOMOGENEOUS) != 0},
                {"two_point_homogeneous", (m->flags & MANIFOLD_TWO_POINT) != 0},
                {"symmetric", (m->flags & MANIFOLD_SYMMETRIC) != 0},
                {"orthonormal", (m->flags & MANIFOLD_ORTHONORMAL) != 0},
                {"brings_records", (m->flags & MANIFOLD_SCALED_ENTRY) != 0},
                {"one_mean", (m->flags & MANIFOLD_ONE_MEAN) != 0},
                {"uniform_by_projection", (m->flags & MANIFOLD_UNIFORM) != 0},
                {"arithmetic_stays", (m->flags & MANIFOLD_ARITHMETIC) != 0},
                {"local_bounds", m->ops->ball_bounds != NULL},
                {"has_laplace", m->ops->radial != NULL},
                {"has_kng", (m->flags & MANIFOLD_KNG) != 0}};
    enum { NUMBERS = sizeof number / sizeof *number, FLAGS = sizeof flag / sizeof *flag, COUNT = NUMBERS + FLAGS + 1 };
    SEXP out = ffi_keep(c, Rf_allocVector(VECSXP, COUNT)), nm = ffi_keep(c, Rf_allocVector(STRSXP, COUNT));
    for (int i = 0; i < NUMBERS; i++) {
        SET_STRING_ELT(nm, i, Rf_mkChar(number[i].name));
        SET_VECTOR_ELT(out, i, Rf_ScalarReal(number[i].value));
    }
    for (int i = 0; i < FLAGS; i++) {
        SET_STRING_ELT(nm, NUMBERS + i, Rf_mkChar(flag[i].name));
        SET_VECTOR_ELT(out, NUMBERS + i, Rf_ScalarLogical(flag[i].value));
    }
    SET_STRING_ELT(nm, COUNT - 1, Rf_mkChar("model"));
    SET_VECTOR_ELT(out, COUNT - 1, Rf_mkString(manifold_model_name[m->model]));
    Rf_setAttrib(out, R_NamesSymbol, nm);
    return out;
}

SEXP riemdp_facts(SEXP m)
{
    return ffi_run(facts_body, NULL, m, 0);
}

/* c(k_max, inj) over a ball */
static SEXP ball_bounds_body(struct call *c, void *data)
{
    SEXP *x = data;
    struct arg centre = ffi_arg(c, x[0], "center", KIND_POINT);
    double *work = ffi_doubles(manifold_work(&c->m));
    if (centre.n != 1)
        ffi_abort_text("shape", "`center` must be one point.");
    struct points p = ffi_block_points(c, &centre, 0, 1, 0, work);
    ffi_check_block(c, &centre, p, NULL, p, 0, 1, work);
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, 2));
    manifold_ball_bounds(&c->m, p.x, ffi_number(x[1], "radius"), REAL(out), REAL(out) + 1, work);
    return out;
}

SEXP riemdp_ball_bounds(SEXP m, SEXP centre, SEXP radius)
{
    SEXP x[] = {centre, radius};
    return ffi_run(ball_bounds_body, x, m, 0);
}

static SEXP origin_body(struct call *c, void *data)
{
    (void)data;
    if (!c->m.ops->origin)
        ffi_abort(c, STATUS_UNSUPPORTED, "M", -1);
    struct result r = ffi_result(c, KIND_POINT, NULL, 1, 0);
    c->m.ops->origin(&c->m, ffi_result_block(&r, 0, 0));
    ffi_result_done(&r, 0, 0, 1);
    return r.x;
}

SEXP riemdp_origin(SEXP m)
{
    return ffi_run(origin_body, NULL, m, 0);
}

/* size of the matrices that turn the space, whether they are complex, and heat_rho() of their group; size 0 where there are none */
static SEXP group_body(struct call *c, void *data)
{
    (void)data;
    int unitary;
    size_t n = heat_group(&c->m, &unitary);
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, 3));
    REAL(out)[0] = (double)n;
    REAL(out)[1] = unitary;
    REAL(out)[2] = heat_rho(n, unitary);
    return out;
}

SEXP riemdp_heat_group(SEXP m)
{
    return ffi_run(group_body, NULL, m, 0);
}

/* see heat_parts() */
SEXP riemdp_heat_parts(SEXP rho, SEXP sigma)
{
    return Rf_ScalarReal(heat_parts(ffi_number(rho, "rho"), ffi_number(sigma, "sigma")));
}

/* Of the chordal law: cap, log of the mass that is proposed, log of the volume of all frames, and chord_least() at numbers t */
struct chord_args {
    SEXP t;
    double sigma;
};

static SEXP chord_body(struct call *c, void *data)
{
    const struct chord_args *in = data;
    struct chord law;
    if (chord_make(&law, &c->m, in->sigma, ffi_doubles(chord_work(&c->m))) != STATUS_OK)
        ffi_abort(c, STATUS_UNSUPPORTED, "mechanism", -1);
    size_t n = (size_t)XLENGTH(in->t);
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)n + 3));
    REAL(out)[0] = law.cap;
    REAL(out)[1] = law.log_mass;
    REAL(out)[2] = law.log_all;
    for (size_t i = 0; i < n; i++)
        REAL(out)[3 + i] = chord_least(law.euclidean, fmin(fmax(REAL(in->t)[i], 0), law.cap));
    return out;
}

SEXP riemdp_chord(SEXP m, SEXP sigma, SEXP t)
{
    if (TYPEOF(t) != REALSXP)
        ffi_abort_text("argument", "`t` must be numbers.");
    struct chord_args args = {t, ffi_range(sigma, "sigma", 1e-300, 1e300)};
    return ffi_run(chord_body, &args, m, 0);
}

static SEXP model_body(struct call *c, void *data)
{
    (void)data;
    return ffi_keep(c, Rf_mkString(manifold_model_name[steps_model(&c->m)]));
}

/* the roots of the eigenvalues of a public centre, from the smallest */
static SEXP roots_body(struct call *c, void *data)
{
    struct arg centre = ffi_arg(c, *(SEXP *)data, "center", KIND_POINT);
    manifold_t m = &c->m;
    size_t k = m->rows;
    double *work = ffi_doubles(manifold_work(m)), *v = ffi_doubles(m->ambient), *rest = ffi_doubles(la_symeig_work(k));
    if (centre.n != 1 || steps_model(m) != MODEL_BURES)
        ffi_abort_text("shape", "`center` must be one matrix, with the Bures-Wasserstein metric.");
    struct points p = ffi_block_points(c, &centre, 0, 1, 0, work);
    ffi_check_block(c, &centre, p, NULL, p, 0, 1, work);
    for (size_t j = 0; j < m->ambient; j++)
        v[j] = p.x[j];
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)k));
    int status = la_symeig(k, v, REAL(out), 1, rest);
    if (status != STATUS_OK)
        ffi_abort(c, status, "center", -1);
    for (size_t j = 0; j < k; j++)
        REAL(out)[j] = sqrt(REAL(out)[j]);
    return out;
}

SEXP riemdp_ball_roots(SEXP m, SEXP centre)
{
    return ffi_run(roots_body, &centre, m, 0);
}

SEXP riemdp_steps_model(SEXP m)
{
    return ffi_run(model_body, NULL, m, 0);
}
