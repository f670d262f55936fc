/* Covariance descriptors of colour images. */
#ifndef RIEMDP_IMAGE_H
#define RIEMDP_IMAGE_H

#include "ground.h"

enum { IMAGE_CHANNELS = 3, IMAGE_FEATURES = 11 };

size_t image_descriptor_work(size_t rows, size_t cols);
/* out: IMAGE_FEATURES x IMAGE_FEATURES covariance of the features over all pixels, plus eta on the diagonal. image: rows x cols x 3,
 * rows fastest. weights: of the three channels in the intensity. */
void image_descriptor(double *out, const double *image, size_t rows, size_t cols, const double *weights, double eta,
                      double *work);

#endif
