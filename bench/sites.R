# What messages of sites cost: CPU milliseconds and bytes of a request and its answer at one site, and of a secure sum over k sites in one process.
# Then what noise a mean has: the standard deviation of what is released about the mean of the records in the ball, seen and as the
# release says, over what one curator of all records would have to add, for k sites with masks and with shares of noise.
# Rscript bench/sites.R FILE.csv NOISE.csv
library(riemdp)
out <- commandArgs(TRUE)
M <- spd(2)
bytes <- 0
count <- function(reply) function(text) {
  answer <- reply(text)
  bytes <<- bytes + nchar(text) + nchar(answer)
  answer
}
rows <- NULL
measured <- function(what, sites, run, times) {
  run()
  bytes <<- 0
  cpu <- sum(system.time(for (i in seq_len(times)) run())[1:2])
  rows <<- rbind(rows, data.frame(what = what, sites = sites, cpu_ms = signif(1000 * cpu / times, 3), bytes = round(bytes / times)))
}
make <- function(k, ledger) {
  files <- replicate(k, tempfile())
  keys <- setNames(vapply(files, site_key, ""), paste0("s", seq_len(k)))
  lapply(seq_len(k), function(i) {
    site_host(site_policy(names(keys)[i], M, 2, 0.1, trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i]), wishart_spd[, , 1:100],
              ledger(), identity = files[i])
  })
}
in_file <- function() dp_ledger(tempfile(fileext = ".sqlite"), 1e6, 1e-6, rule = "gdp", create = TRUE)
in_memory <- function() dp_ledger(epsilon = 1e6, delta = 1e-6, rule = "gdp")
mean_of <- function(x) dp_mean(x, M, 1, diag(2), 1.5, delta = 1e-6, mechanism = "tangent")
for (ledger in c("in memory", "in SQLite")) {
  host <- make(2, if (ledger == "in memory") in_memory else in_file)[[1]]
  one <- site_remote(count(function(text) site_reply(host, text)))
  measured(paste("a noisy sum, ledger", ledger), 1, function() one$ask(list(kernel = "noisy", M = M, center = c(1, 0, 0, 1), radius = 1.5, sd = 6)), 100)
}
measured("a noisy sum without messages", 1, function() {
  site_answer(list(kernel = "noisy", private = TRUE, M = M, center = c(1, 0, 0, 1), radius = 1.5, sd = 6), wishart_spd[, , 1:100], ledger = in_memory())
}, 100)
for (k in c(3, 10, 50)) {
  hosts <- make(k, in_memory)
  x <- do.call(sites, c(lapply(hosts, function(host) site_remote(count(function(text) site_reply(host, text)))), list(secure = TRUE, colluding = 0)))
  measured("dp_mean() by a secure sum", k, function() mean_of(x), if (k < 50) 5 else 1)
  y <- do.call(sites, c(lapply(hosts, function(host) site_remote(count(function(text) site_reply(host, text)))), list(shares = TRUE)))
  measured("dp_mean() by shares", k, function() mean_of(y), 5)
}
print(rows)
if (length(out)) write.csv(rows, out[1], row.names = FALSE, quote = FALSE)

# 500 coordinates a release; all sites' records are the centre, so all that is released is noise
flat <- euclidean(500)
noise_sd <- function(x) {
  drawn <- replicate(8, dp_mean(x, flat, 1, rep(0, 500), 1, delta = 1e-6, mechanism = "tangent"), simplify = FALSE)
  c(seen = sd(vapply(drawn, function(release) as.numeric(release$value), numeric(500))), said = drawn[[1]]$scale)
}
noise <- NULL
for (k in c(2, 5, 10, 20, 50)) {
  files <- replicate(k, tempfile())
  keys <- setNames(vapply(files, site_key, ""), paste0("s", seq_len(k)))
  zeros <- matrix(0, ceiling(1000 / k), 500)
  hosts <- lapply(seq_len(k), function(i) {
    site_host(site_policy(names(keys)[i], flat, 1, 0.01, trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i]), zeros, in_memory(),
              identity = files[i])
  })
  ask <- lapply(hosts, function(host) site_remote(function(text) site_reply(host, text)))
  one <- noise_sd(do.call(rbind, rep(list(zeros), k)))
  for (way in c("masks", "shares")) {
    how <- if (way == "masks") list(secure = TRUE, colluding = 0) else list(shares = TRUE)
    many <- noise_sd(do.call(sites, c(ask, how)))
    noise <- rbind(noise, data.frame(way = way, sites = k, seen = signif(many[["seen"]] / one[["said"]], 4),
                                     said = signif(many[["said"]] / one[["said"]], 6), root = signif(if (way == "masks") 1 else sqrt(k), 4)))
  }
}
print(noise)
if (length(out) > 1) write.csv(noise, out[2], row.names = FALSE, quote = FALSE)
