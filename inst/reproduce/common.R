# What every script of this directory shares. A script is one figure or table, run as
#   Rscript paper-003-figure-1.R [quick|full] [directory for the results]
# and writes <its name>.csv and <its name>.png (or several, <its name>-<part>.csv).

suppressPackageStartupMessages(library(riemdp))

# list(name, mode, quick, out, file(suffix))
start_job <- function() {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
  name <- sub("\\.R$", "", basename(script))
  given <- commandArgs(TRUE)
  mode <- if (length(given) >= 1) given[1] else "quick"
  if (!mode %in% c("quick", "full")) stop("the mode must be quick or full, not ", mode, call. = FALSE)
  out <- if (length(given) >= 2) given[2] else "reproduced"
  dir.create(out, showWarnings = FALSE, recursive = TRUE)
  list(name = name, mode = mode, quick = mode == "quick", out = out,
       file = function(suffix) file.path(out, paste0(name, suffix)))
}

# One number of a result: `value` with its Monte Carlo standard error (0: exact), `paper` what the paper says of it (NA: nothing in its
# text) and `source` where. `calibration` is "paper", "honest" (proven; what dp_*() would use) or "none" (no noise involved).
number <- function(quantity, setting, calibration, value, se = 0, paper = NA, source = "", note = "") {
  data.frame(quantity = quantity, setting = setting, calibration = calibration, value = value, se = se, paper = paper, source = source,
             note = note)
}

# mean and standard error of a sample, or of a share
monte_carlo <- function(x) c(value = mean(x), se = stats::sd(x) / sqrt(length(x)))

save_numbers <- function(job, table, part = "") {
  file <- job$file(paste0(if (nzchar(part)) paste0("-", part), ".csv"))
  rounded <- table
  for (name in names(rounded)) if (is.double(rounded[[name]])) rounded[[name]] <- signif(rounded[[name]], 6)
  utils::write.csv(rounded, file, row.names = FALSE, fileEncoding = "UTF-8")
  message("  ", file)
  invisible(table)
}

# What a paper states beside ours: quantity, setting, stated, ours (with the paper's calibration), honest, note; the last three as text, with two
# standard errors; an order (a < b) holds or doesn't. Rows of one quantity that all say the same are one row.
side_by_side <- function(table) {
  told <- function(value, se, order = FALSE) {
    if (order && !is.na(value)) return(if (value == 1) "holds" else "doesn't hold")
    figure <- format(signif(value, 3), drop0trailing = TRUE, trim = TRUE, scientific = FALSE)
    if (is.na(value)) "" else if (is.na(se) || se == 0) figure else paste(figure, "\u00b1", format(signif(2 * se, 1), scientific = FALSE))
  }
  all_told <- function(rows) if (nrow(rows)) told(rows$value[1], rows$se[1], grepl(" < ", rows$quantity[1])) else ""
  stated <- table[!is.na(table$paper), , drop = FALSE]
  if (!nrow(stated)) return(NULL)
  out <- do.call(rbind, lapply(seq_len(nrow(stated)), function(i) {
    row <- stated[i, ]
    same <- table[table$quantity == row$quantity & table$setting == row$setting, ]
    data.frame(quantity = row$quantity, setting = row$setting, stated = told(row$paper, NA, grepl(" < ", row$quantity)), ours = all_told(row),
               honest = all_told(same[same$calibration == "honest", ]), note = if (is.na(row$note)) "" else sub("^1: this order holds(; )?", "", row$note))
  }))
  key <- paste(out$quantity, sub(", n = [0-9]+$", "", out$setting), out$stated, out$ours, out$honest, out$note)
  many <- as.vector(table(key)[key])
  out$setting <- ifelse(many > 1, paste0(sub(", n = [0-9]+$", "", out$setting), ", every n"), out$setting)
  out <- out[!duplicated(key), ]
  row.names(out) <- NULL
  out
}

# rows of a data frame of text in Markdown
markdown_table <- function(x, names = base::names(x)) {
  line <- function(cells) paste0("| ", paste(gsub("|", "\\|", cells, fixed = TRUE), collapse = " | "), " |")
  c(line(names), paste0("|", strrep("---|", length(x))), vapply(seq_len(nrow(x)), function(i) line(unlist(x[i, ])), ""), "")
}

# a 'ggplot', or an expression that draws with base graphics
save_picture <- function(job, picture, width = 9, height = 5, part = "") {
  file <- job$file(paste0(if (nzchar(part)) paste0("-", part), ".png"))
  kind <- if (capabilities("cairo")) "cairo" else getOption("bitmapType")
  grDevices::png(file, width = width, height = height, units = "in", res = 150, type = kind)
  on.exit(grDevices::dev.off())
  value <- withVisible(picture) # draws here, if it is an expression
  if (inherits(value$value, "ggplot")) print(value$value)
  message("  ", file)
  invisible(file)
}

# "  12 of 40" on the terminal, from the first second on
steps <- function(of) {
  done <- 0
  tty <- isatty(stderr())
  function() {
    done <<- done + 1
    if (tty) cat(sprintf("\r  %d of %d%s", done, of, if (done == of) "\n" else ""), file = stderr())
    invisible(done)
  }
}

# ---- means: data and mechanisms of papers 001 and 003 -------------------------------------------------------------------------

NORTH <- c(0, 0, 1)

# Paper 003, A.3.1: polar angle uniform on [0, r], azimuth uniform
polar_sample <- function(n, r) {
  theta <- stats::runif(n, 0, r)
  phi <- stats::runif(n, 0, 2 * pi)
  cbind(sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta))
}

# Paper 003, A.2.1: Wishart with k degrees of freedom and scale I/k, kept if within r of the identity
wishart_sample <- function(n, r = 1.5, k = 2) {
  out <- array(0, c(k, k, 0))
  while (dim(out)[3] < n) {
    x <- stats::rWishart(ceiling((n - dim(out)[3]) / 0.2), k, diag(k) / k)
    near <- apply(x, 3, function(m) sqrt(sum(log(eigen(m, symmetric = TRUE, only.values = TRUE)$values)^2)) < r)
    out <- array(c(out, x[, , near]), c(k, k, dim(out)[3] + sum(near)))
  }
  out[, , seq_len(n), drop = FALSE]
}

# n draws with density proportional to exp(-|z|/sigma) on R^d (paper 003, A.4)
euclidean_laplace <- function(n, d, sigma) {
  z <- matrix(stats::rnorm(n * d), n)
  z / sqrt(rowSums(z^2)) * stats::rgamma(n, d) * sigma
}

# One draw of the K-norm gradient law of the records x on the ball, with the scale set by hand
kng_draw <- function(x, M, sigma, center, radius) {
  dp_mean(x, M, sigma = sigma, center = center, radius = radius, mechanism = "kng", max_trials = 1e6)$value
}

vech <- function(x) x[lower.tri(x, diag = TRUE)]

# s cot(s), the papers' h
h_curved <- function(s) s / tan(s)

# ---- shapes -----------------------------------------------------------------------------------------------------------------------

# pairs of edges of a closed outline (complex) that cross each other
crossings <- function(z) {
  k <- length(z)
  x <- cbind(Re(z), Im(z))
  b <- x[c(2:k, 1), ]
  area <- function(p, q, r) (q[, 1] - p[, 1]) * (r[, 2] - p[, 2]) - (q[, 2] - p[, 2]) * (r[, 1] - p[, 1])
  pair <- utils::combn(k, 2)
  pair <- pair[, (pair[2, ] - pair[1, ]) %in% 2:(k - 2)]
  i <- pair[1, ]
  j <- pair[2, ]
  sum(area(x[i, ], b[i, ], x[j, ]) * area(x[i, ], b[i, ], b[j, ]) < 0 & area(x[j, ], b[j, ], x[i, ]) * area(x[j, ], b[j, ], b[i, ]) < 0)
}

as_complex <- function(x) if (is.complex(x)) as.vector(x) else complex(real = x[, 1], imaginary = x[, 2])

# ways to a private mean shape, as paper 001 has them and as this package would; arguments of dp_mean() beside the records
# `bounds`: list(center =, radius =) of the paper, which come from the records, and public ones
shape_methods <- function(epsilon, bounds, public) {
  paper <- c(list(epsilon = epsilon, calibration = "paper"), bounds)
  honest <- c(list(epsilon = epsilon), public)
  list(
    # the paper doesn't state the chain's step; after its 7,500 steps the first is still near the non-private mean it starts at
    "K-norm gradient, paper's chain, step .001" = c(paper, mechanism = "chain", list(options = list(target = "kng", proposal = "published", step = 0.001))),
    "K-norm gradient, paper's chain, step .01" = c(paper, mechanism = "chain", list(options = list(target = "kng", proposal = "published", step = 0.01))),
    "point-wise Laplace, aligned, paper" = c(paper, mechanism = "pointwise"),
    "point-wise Laplace, not aligned, paper" = c(paper, mechanism = "pointwise", list(options = list(rotation = "none"))),
    "Laplace, proven" = c(honest, mechanism = "laplace"),
    "wrapped, proven" = c(honest, mechanism = "wrapped"),
    "K-norm gradient, exact, proven" = c(honest, mechanism = "kng", max_trials = 1e6),
    "point-wise Laplace, aligned, proven" = c(honest, mechanism = "pointwise"),
    "point-wise Laplace, not aligned, proven" = c(honest, mechanism = "pointwise", list(options = list(rotation = "none")))
  )
}
