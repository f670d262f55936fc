# Prices beside the truth by contour integrals (helper-judge.R), which share no code with the package. Seeded.

judged_event <- function(parts) {
  event_compose(lapply(judge_parts(parts), function(term) {
    p <- term$p
    event_compose(times = term$times, switch(term$kind,
      gaussian = event_gaussian(p), laplace = event_laplace(p), pure = event_pure(p), discrete = event_discrete_gaussian(p),
      "discrete-laplace" = event_discrete_laplace(p[1], p[2]), poisson = event_poisson(p[1], event_gaussian(p[2])),
      "poisson-laplace" = event_poisson(p[1], event_laplace(p[2])), sample = event_sample(p[1], event_gaussian(p[2])),
      replaced = event_poisson(p[1], event_gaussian(p[2]), "replace-one"),
      mixture = event_mixture(p[1], c(0, p[-(1:2)]), c(1 - p[2] * (length(p) - 2), rep(p[2], length(p) - 2)))
    ))
  }))
}

# neither end is on the wrong side, the judge sees the tenth part of what the ends are apart, and no price is above
expect_judged <- function(parts, delta) {
  e <- judged_event(parts)
  bounds <- dp_bounds(e, delta)
  found <- judge_bracket(parts, delta, bounds[["lower"]], bounds[["upper"]])
  expect_identical(paste(parts, "at", delta, found$wrong), paste(parts, "at", delta, ""))
  expect_identical(found$why, "")
  expect_lte(bounds[["upper"]], bounds[["lower"]] * (1 + 1e-3))
  expect_lte(as.double(dp_epsilon(e, delta)), bounds[["upper"]])
}

test_that("the judge knows what 40 digits say, within its own bounds and to 2e-8", {
  all <- jsonlite::fromJSON(test_path("reference", "accountant_extra.json"), simplifyVector = FALSE)
  rows <- c(all$composition, lapply(all$many_samples[c(1, 9, 20, 56)], function(r) {
    list(parts = list(list(kind = "sample", parameters = list(r$q, r$noise_multiplier), times = r$times)), epsilon = r$epsilon, delta = r$delta)
  }))
  if (quick()) rows <- rows[c(1, 4, 6, 7, 9, 12, 13)]
  known <- 0
  for (r in rows) {
    terms <- vapply(r$parts, function(p) {
      p$parameters <- if (p$kind == "discrete_gaussian") p$parameters[1] else p$parameters
      sprintf("%.0f*%s(%s)", p$times, sub("_gaussian", "", p$kind), paste(unlist(p$parameters), collapse = ";"))
    }, "")
    truth <- judge_delta(paste(terms, collapse = " + "), r$epsilon)
    expect_lte(truth$low, log(r$delta) + 1e-14)
    expect_gte(truth$high, log(r$delta) - 1e-14)
    known <- known + (truth$high - truth$low < 2e-8)
  }
  expect_gte(known, length(rows) - !quick()) # one needs more nodes than the judge takes
})

test_that("the judge refutes brackets that are moved by 3 %", {
  parts <- c("10000*poisson(0.01;1)", "400*sample(0.05;1)", "100*replaced(0.01;1)", "50*laplace(2)", "1000*pure(0.05)",
             "30*discrete-laplace(10;3)", "50*discrete(8)")
  for (one in parts) {
    b <- dp_bounds(judged_event(one), 1e-6)
    expect_identical(judge_bracket(one, 1e-6, b[["lower"]], b[["upper"]])$wrong, "")
    expect_match(judge_bracket(one, 1e-6, b[["lower"]], 0.97 * b[["upper"]])$wrong, "^upper")
    expect_match(judge_bracket(one, 1e-6, 1.03 * b[["lower"]], 1.04 * b[["upper"]])$wrong, "^lower")
  }
})

test_that("no end of a random bracket is on the wrong side of the truth", {
  cases <- list(
    c("419*poisson(0.01852;2.914)", "0.01741"), c("490*poisson(1.202e-05;0.2117)", "1.311e-174"), c("13245*poisson(0.1347;497200)", "4.288e-50"),
    c("12477*poisson(0.0001579;477.3)", "2.827e-07"), c("200*poisson-laplace(0.2;1.7) + 3*gaussian(5)", "1e-5"), c("100*replaced(0.02;0.9)", "1e-20"),
    c("400*sample(0.05;1)", "1e-9"), c("1000*mixture(2;0.01;1;2;3)", "1e-6"), c("20*laplace(4) + 300*poisson(0.01;1)", "1e-7"),
    c("40*discrete(3) + 10*pure(0.2) + 2*gaussian(4)", "1e-8")
  )
  for (case in cases) expect_judged(case[1], as.numeric(case[2]))
})

test_that("tiny samples of steps with little noise: from losses of 690 on no mass comes from nowhere", {
  e <- event_poisson(1.374e-9, event_gaussian(0.01448))
  # six chances in 1e9 that anything is told
  expect_identical(unname(dp_bounds(event_compose(e, times = 6), 0.003662)), c(0, 0))
  expect_identical(as.double(dp_epsilon(event_compose(e, times = 6), 0.003662)), 0)
  mixed <- event_compose(event_compose(e, times = 6), event_gaussian(2), adjacency = "add-remove")
  bounds <- dp_bounds(mixed, 0.003662)
  alone <- as.double(dp_epsilon(event_gaussian(2), 0.003662))
  expect_lte(bounds[["lower"]], as.double(dp_epsilon(event_gaussian(2), 0.003662 - 9e-9)))
  expect_gte(bounds[["upper"]], alone)
  # the share of one is below delta, that of two isn't
  half <- event_poisson(0.5, event_gaussian(0.05))
  expect_identical(dp_bounds(half, 0.5001)[["upper"]], 0)
  expect_gt(dp_bounds(half, 0.3)[["lower"]], 0)
  expect_gt(dp_bounds(event_compose(half, times = 2), 0.5001)[["lower"]], 0)
})

test_that("where grids stay wide the other accountants narrow a bracket, and what stays wide says so", {
  known <- dp_bounds(event_compose(event_gaussian(0.2562), times = 2), 3.838e-95)
  expect_lte(known[["upper"]], known[["lower"]] * (1 + 1e-9))
  expect_null(attr(known, "apart"))
  pure <- dp_bounds(event_compose(event_poisson(3.29e-07, event_laplace(22130)), times = 3), 2.594e-32)
  expect_lte(pure[["upper"]], pure[["lower"]] * (1 + 1e-9))
  wide <- dp_bounds(event_compose(event_poisson(3.29e-07, event_gaussian(22130)), times = 3), 2.594e-32)
  expect_identical(attr(wide, "apart"), wide[["upper"]] / wide[["lower"]] - 1)
})

test_that("the plan's target far from the answer: the tilt is taken off where doubles hold it", {
  # the largest sum of losses, 485 * 9/23.8, has a chance of 1e-142: below, delta = 1e-250 needs all of it but a hair
  e <- event_compose(event_discrete_laplace(23.8, 9), times = 485)
  most <- 485 * 9 / 23.8
  for (delta in c(1e-160, 1e-200, 2.179e-250, 1e-290)) {
    b <- dp_bounds(e, delta)
    expect_gte(b[["upper"]], most * (1 - 1e-12))
    expect_lte(b[["upper"]], most * (1 + 1e-4))
    expect_gte(as.double(dp_epsilon(e, delta)), most * (1 - 1e-12))
  }
  # a chance of 2^-485 or more that all noise lies on one side
  expect_gte(as.double(dp_delta(e, 183.3)), 2^-485 * -expm1(183.3 - most))
})

test_that("no price is above the upper end, in its last digits either", {
  for (case in list(list(24, 693600, 2.545e-202), list(1, 0.2366, 2.795e-110), list(2, 660700, 6.234e-170), list(7, 3, 1e-300), list(1, 1e3, 0.3))) {
    e <- event_compose(event_gaussian(case[[2]]), times = case[[1]])
    expect_lte(as.double(dp_epsilon(e, case[[3]])), dp_bounds(e, case[[3]])[["upper"]])
  }
})
