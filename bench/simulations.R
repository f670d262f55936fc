# What adaptive.R, groups.R and dp-ball.R have in common: each reads it, draws records, and writes a table beside itself.
suppressPackageStartupMessages(library(riemdp))
quick <- "quick" %in% commandArgs(TRUE)
simulated <- riemdp:::with_simulation

# normal tangents with that standard deviation in each coordinate, around a point in a random direction from the centre, that part of the radius away
around <- function(M, center, radius, n, sd, part = 0.5) {
  v <- tangent_noise(M, center, 1, 1)
  middle <- if (part > 0) mf_exp(M, center, v * (part * radius / mf_norm(M, center, v))) else center
  mf_exp(M, middle, tangent_noise(M, middle, n, sd))
}

# a row of a table, told as soon as it is there
said <- function(row) {
  message(paste(format(row), collapse = "  "))
  row
}

# `rows` as one table, printed; the full run's goes into that file, where rows of an earlier run that `stay` are kept
kept <- function(rows, file, stay = function(old) FALSE) {
  table <- do.call(rbind, rows)
  print(table, row.names = FALSE, width = 200)
  if (quick) return(invisible())
  file <- file.path(dirname(script), file)
  if (file.exists(file)) {
    old <- utils::read.csv(file)
    table <- rbind(old[stay(old), ], table)
  }
  utils::write.csv(table, file, row.names = FALSE)
}
