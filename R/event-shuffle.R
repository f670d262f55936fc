# What may be stated of the randomiser of shuffled reports.

# What is known of the randomiser's laws, each within what epsilon allows; the last digits of it may be rounded
shuffle_numbers <- function(epsilon, variation, common) {
  if (is.null(variation)) {
    if (is.null(common)) return(NULL)
    abort_riemdp("argument", "`common` belongs to `variation`: without it nothing is shared for certain.")
  }
  told <- list(variation = check_number(variation, "variation", positive = TRUE))
  if (told$variation > outwards(tanh(epsilon / 2))) {
    abort_riemdp("argument", sprintf("`variation` must be at most tanh(epsilon/2), here %.6g, which always holds.",
                                     tanh(epsilon / 2)))
  }
  if (is.null(common)) return(told)
  told$common <- check_number(common, "common", least = 1)
  if (log(told$common) > outwards(epsilon)) {
    abort_riemdp("argument", sprintf("`common` must be at most e^epsilon, here %.6g, which always holds.",
                                     exp(epsilon)))
  }
  told
}
