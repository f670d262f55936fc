# The noise of Utpala et al. (2023), section 6.3, against what the accountants allow. delta = 1e-6; C = 1.
# Printed for gradient descent (10 steps) and variance-reduced descent (5 epochs of n/10 steps, C0 = C1): the paper's sigma (its
# Claims 3 to 5: lambda = 2 log(1/delta)/epsilon, K(lambda) <= lambda epsilon/2), the epsilon that it really gives, and the sigma that
# would do.
library(riemdp)

delta <- 1e-6
sizes <- c(pathmnist_0 = 10704, pathmnist_1 = 10356, mnist_0 = 6903, mnist_1 = 7877, wordnet = 1180)

# moments of Claims 3 and 4 solved for sigma; `constant` is 2 for descent, (sqrt(2) + sqrt(28))^2 for variance reduction
paper_sigma <- function(n, times, epsilon, constant) {
  lambda <- 2 * log(1 / delta) / epsilon
  sqrt(2 * constant * times * (lambda + 1) / epsilon) / n
}

descent <- function(n, times) function(sigma) event_compose(event_gaussian(n * sigma / 2), times = times)
share <- 1 / (1 + sqrt(14))
reduced <- function(n, times) function(sigma) {
  event_compose(event_gaussian(n * sqrt(share) * sigma / 2),
                event_sample(1 / n, event_gaussian(sqrt(1 - share) * sigma / 4)), times = times)
}

one <- function(method, data, n, epsilon) {
  times <- if (method == "descent") 10 else 5 * round(n / 10)
  make <- if (method == "descent") descent(n, times) else reduced(n, times)
  sigma <- paper_sigma(n, times, epsilon, if (method == "descent") 2 else (sqrt(2) + sqrt(28))^2)
  find <- function(accountant) as.double(dp_calibrate(make, epsilon, delta, accountant, tol = 1e-3))
  data.frame(method = method, data = data, n = n, epsilon = epsilon, paper_sigma = sigma,
             true_epsilon = as.double(dp_epsilon(make(sigma), delta)), rdp_sigma = find("rdp"), best_sigma = find("auto"))
}

cases <- expand.grid(epsilon = c(0.1, 0.3, 0.5), data = names(sizes), method = c("descent", "reduced"), stringsAsFactors = FALSE)
table <- do.call(rbind, Map(function(method, data, epsilon) one(method, data, sizes[[data]], epsilon),
                            cases$method, cases$data, cases$epsilon))
print(table, digits = 4, row.names = FALSE)
