# dp_test() beside the tests without privacy of the package 'shapes' (Hotelling's, Goodall's, James's; Dryden and Mardia 2016) on its own data
# sets. Writes testing-shapes.csv beside this file, half a minute; needs 'shapes':
#   Rscript bench/testing-shapes.R
# Two samples each: females and males of apes (skulls) and monkeys, vertebrae of mice of three breeds, brains' midlines with and without
# schizophrenia, and digits 3 in two halves of no meaning. The bandwidth is .1 for all, a round figure; no centre and no radius is needed.
# `plain`: the p-value of the permutation test without privacy, of the same statistic and 9,999 lots; `at_*`: the chance of a rejection at
# level .05 with that epsilon, exactly from the weights; `says_*`: "same" as plain at .05 where that chance is above .8 or plain doesn't
# reject, else "can't tell".
options(rgl.useNULL = TRUE)
suppressPackageStartupMessages(library(riemdp))
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
internal <- asNamespace("riemdp")
set <- function(name) get(utils::data(list = name, package = "shapes", envir = environment()), environment())
halves <- function(x, first) list(x[, 1:2, first], x[, 1:2, setdiff(seq_len(dim(x)[3]), first)])
pairs <- list(
  gorillas = list(set("gorf.dat"), set("gorm.dat")), `orang-utans` = list(set("pongof.dat"), set("pongom.dat")),
  chimpanzees = list(set("panf.dat"), set("panm.dat")), macaques = list(set("macf.dat")[, 1:2, ], set("macm.dat")[, 1:2, ]),
  `mice, large and small` = list(set("qlet2.dat"), set("qset2.dat")), `mice, control and large` = list(set("qcet2.dat"), set("qlet2.dat")),
  schizophrenia = halves(set("schizophrenia.dat"), 1:14), digits = halves(set("digit3.dat"), seq(1, 30, 2))
)

shapes_of <- function(x) mf_project(kendall(dim(x)[1]), x[, 1, ] + 1i * x[, 2, ])

rows <- lapply(names(pairs), function(name) {
  a <- pairs[[name]]
  sizes <- vapply(a, function(x) dim(x)[3], 0L)
  utils::capture.output(other <- suppressWarnings(shapes::testmeanshapes(a[[1]], a[[2]], resamples = 0)))
  x <- cbind(shapes_of(a[[1]]), shapes_of(a[[2]]))
  records <- list(x = x, n = sum(sizes), group = rep(1:2, sizes))
  asked <- function(epsilon) {
    ask <- list(manifold = kendall(nrow(x)), kind = "gaussian", statistic = "kernel", epsilon = epsilon, null = "equal", alpha = 0.05, draws = 9999,
                invalid = "error")
    internal$test_question(ask$manifold, ask, records, NULL, 0.1, NULL, NULL)
  }
  t <- with_simulation(1, internal$test_statistics(records, asked(1)))
  chance <- vapply(c(at_0.5 = 0.5, at_1 = 1, at_2 = 2, at_5 = 5), function(epsilon) {
    w <- internal$law_weights(t, internal$test_estimator$plan(asked(epsilon))$law)
    w[1] / sum(w)
  }, 0)
  plain <- mean(t >= t[1])
  says <- ifelse(plain > 0.05 | chance > 0.8, "same", "can't tell")
  names(says) <- sub("at", "says", names(chance))
  data.frame(data = name, landmarks = nrow(x), n1 = sizes[1], n2 = sizes[2], hotelling = signif(other$H.table.pvalue, 3),
             goodall = signif(other$G.table.pvalue, 3), james = signif(other$J.table.pvalue, 3), plain = signif(plain, 3),
             as.list(signif(chance, 3)), as.list(says))
})
table <- do.call(rbind, rows)
utils::write.csv(table, file.path(dirname(script), "testing-shapes.csv"), row.names = FALSE)
print(table, row.names = FALSE)
