need_delta <- function(event, delta, accountant) {
  if (delta <= 0) unpriced(event, accountant, "only pure steps have an epsilon at delta = 0")
}
