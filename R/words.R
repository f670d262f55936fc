# Signs and words as they are printed.

symbol <- function(which, ascii = FALSE) {
  if (!ascii && isTRUE(l10n_info()[["UTF-8"]])) {
    c(epsilon = "\u03b5", delta = "\u03b4", sigma = "\u03c3", mu = "\u03bc")[[which]]
  } else {
    which
  }
}
