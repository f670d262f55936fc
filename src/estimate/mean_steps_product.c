/* The mean on products. A part's coordinates are the product's, which have the length of its metric, over the root of its weight; the
 * quotients are the point, exactly (inst/proofs/products.md, section 3). */
#include "mean_steps_product.h"

size_t product_place(struct mean_part *part, size_t count)
{
    size_t coord = 0, span = 0, point = 0, room = 0;
    for (size_t i = 0; i < count; i++) {
        part[i].coord = coord;
        part[i].span = span;
        part[i].point = point;
        part[i].room = room;
        coord += part[i].steps.dim;
        span += part[i].steps.span;
        point += steps_point_size(&part[i].steps);
        room += steps_work(&part[i].steps);
    }
    return span;
}

size_t product_size(const struct mean_steps *c)
{
    const struct mean_part *last = c->part + c->parts - 1;
    return last->point + steps_point_size(&last->steps);
}

size_t product_room(const struct mean_steps *c)
{
    const struct mean_part *last = c->part + c->parts - 1;
    return last->room + steps_work(&last->steps);
}

static void own_coords(const struct mean_part *p, const double *a, double *own)
{
    for (size_t j = 0; j < p->steps.dim; j++)
        own[j] = a[p->coord + j] / p->root;
}

void product_embed(const struct mean_steps *c, size_t n, const double *a, size_t a_apart, double *y, size_t y_apart, double *work)
{
    size_t most = STEPS_GROUP;
    for (size_t i = 0; i < n; i += most) {
        size_t count = n - i < most ? n - i : most;
        for (size_t k = 0; k < c->parts; k++) {
            const struct mean_part *p = c->part + k;
            for (size_t l = 0; l < count; l++)
                own_coords(p, a + (i + l) * a_apart, work + l * p->steps.dim);
            steps_embed_all(&p->steps, count, work, p->steps.dim, y + i * y_apart + p->point, y_apart, work + most * c->dim);
        }
    }
}

void product_stand(const struct mean_steps *c, const double *a, double *at, double *work)
{
    for (size_t i = 0; i < c->parts; i++) {
        own_coords(c->part + i, a, at + c->part[i].coord);
        steps_stand(&c->part[i].steps, at + c->part[i].coord, work + c->part[i].room);
    }
}

void product_logs(const struct mean_steps *c, const double *at, size_t n, const double *y, size_t y_apart, double *v, size_t v_apart,
                  double *work)
{
    for (size_t k = 0; k < c->parts; k++) {
        const struct mean_part *p = c->part + k;
        steps_logs(&p->steps, at + p->coord, n, y + p->point, y_apart, v + p->span, v_apart, work + p->room);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < p->steps.span; j++)
                v[i * v_apart + p->span + j] *= p->root;
    }
}

void product_end(const struct mean_steps *c, double *at, double *v, double *a, double *work)
{
    for (size_t i = 0; i < c->parts; i++) {
        const struct mean_part *p = c->part + i;
        for (size_t j = 0; j < p->steps.span; j++)
            v[p->span + j] /= p->root;
        steps_end(&p->steps, v + p->span, at + p->coord, work + p->room);
        for (size_t j = 0; j < p->steps.dim; j++)
            a[p->coord + j] = p->root * at[p->coord + j];
    }
}
