# Private groups, dp_mean(by = , levels = ), against groups whose members and sizes are public, and against what a careful user would do without `by`.
# Writes groups.csv beside this file, some twenty minutes:
#   Rscript bench/groups.R [quick]
# `over_public`: the mean error of a group's mean over the expected error of dp_mean() for that group alone, with its public number of records and
# all of epsilon: a record is in one public group. `over_naive`: the same over the mean error of a call for each group on its own, with half of it
# for a noisy size and the mean with the other half, of as many points as that says (its sum over that number where the space is flat); where a
# record is replaced it may touch two groups, so each call has half of epsilon there. Standard errors behind each. `post = FALSE` everywhere: these
# are the errors of the noise and of missing points, before large noise is answered by moving towards the centre.
# Groups are of equal size; records are tangent normals with a standard deviation of .15 radii in each coordinate, moved to the ball, around a point
# that is `place` of the radius from its centre, which is a group's own.
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
source(file.path(dirname(script), "simulations.R"))

spaces <- list(
  "euclidean(2)" = list(M = euclidean(2), center = c(0, 0), radius = 1), "sphere(2)" = list(M = sphere(2), center = c(0, 0, 1), radius = 0.5),
  "spd(2)" = list(M = spd(2), center = diag(2), radius = 1), "hyperbolic(2)" = list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1),
  "kendall(4)" = list(M = kendall(4), center = exp(2i * pi * (1:4) / 4), radius = 0.3)
)
calls <- if (quick) 4 else 240

# Plans follow from public numbers: each is made once.
for (name in c("size_ask", "plan_size", "joint_plan")) local({
  made <- get(name, asNamespace("riemdp"))
  plans <- new.env()
  utils::assignInNamespace(name, function(...) {
    key <- rlang::hash(list(...))
    if (is.null(plans[[key]])) plans[[key]] <- made(...)
    plans[[key]]
  }, "riemdp")
})

bound <- function(points) {
  if (is.complex(points[[1]])) do.call(cbind, points) else if (length(dim(points[[1]])) == 3) {
    array(unlist(points), c(dim(points[[1]])[1:2], sum(vapply(points, function(x) dim(x)[3], 0))))
  } else do.call(rbind, points)
}

# records of groups and their means
drawn <- function(space, groups, n, place) {
  x <- lapply(seq_len(groups), function(g) {
    mf_to_ball(space$M, around(space$M, space$center, space$radius, n, 0.15 * space$radius, place), space$center, space$radius)
  })
  list(n = n, x = x, means = lapply(x, function(x) frechet_mean(x, space$M)$mean))
}

estimate <- function(errors) c(mean = mean(errors), se = stats::sd(errors) / sqrt(length(errors)))
# a ratio, and its standard error where both are independent
over <- function(a, b) c(a[[1]] / b[[1]], a[[1]] / b[[1]] * sqrt((a[[2]] / a[[1]])^2 + (b[[2]] / b[[1]])^2))

release <- function(space, x, epsilon, ...) dp_mean(x, space$M, epsilon, space$center, space$radius, post = FALSE, ...)

# mean over a call's groups: their errors share the sizes' noise
grouped <- function(space, s, epsilon, neighbours) {
  names <- letters[seq_along(s$x)]
  x <- bound(s$x)
  by <- rep(names, each = s$n)
  estimate(vapply(seq_len(calls), function(i) {
    r <- simulated(i, release(space, x, epsilon, by = by, levels = names, neighbours = neighbours))
    mean(mapply(function(g, m) mf_dist(space$M, g$value, m), r$groups, s$means))
  }, 0))
}

naive <- function(space, s, epsilon) {
  options <- c(list(count = 0.5), if (space$M$name != "euclidean") list(form = "plain"))
  estimate(vapply(seq_len(calls), function(i) {
    r <- simulated(calls + i, release(space, s$x[[1]], epsilon, neighbours = "add_remove", options = options))
    mf_dist(space$M, r$value, s$means[[1]])
  }, 0))
}

rows <- list()
for (name in names(spaces)) for (n in c(200, 1000)) for (epsilon in c(1, 4)) for (place in c(0, 0.5)) {
  space <- spaces[[name]]
  set.seed(1)
  s <- drawn(space, 4, n, place)
  plan <- dp_mean_plan(space$M, n = n, epsilon = epsilon, center = space$center, radius = space$radius, post = FALSE)
  public <- plan$expected_error[plan$chosen]
  for (neighbours in c("replace", "add_remove")) {
    own <- naive(space, s, if (neighbours == "replace") epsilon / 2 else epsilon)
    for (groups in c(2, 4)) {
      ours <- grouped(space, list(n = n, x = s$x[seq_len(groups)], means = s$means[seq_len(groups)]), epsilon, neighbours)
      rows <- c(rows, list(said(data.frame(
        space = name, neighbours = neighbours, groups = groups, n = n, epsilon = epsilon, place = place, error = signif(ours[[1]], 3),
        over_public = round(ours[[1]] / public, 2), se = round(ours[[2]] / public, 2), over_naive = round(over(ours, own)[1], 2),
        naive_se = round(over(ours, own)[2], 2)
      ))))
    }
  }
}
kept(rows, "groups.csv")
