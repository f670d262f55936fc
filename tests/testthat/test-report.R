# The report template drafts and renders, from a release alone; the citation names every paper

pages <- function(params = list()) {
  directory <- tempfile()
  dir.create(directory)
  on.exit(unlink(directory, recursive = TRUE))
  file <- rmarkdown::draft(file.path(directory, "report.Rmd"), "dp_release_report", "riemdp", edit = FALSE)
  out <- rmarkdown::render(file, params = params, quiet = TRUE, envir = new.env())
  html <- paste(readLines(out, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  # scripts, styles and pictures aside
  gsub("[[:space:]]+", " ", gsub("<script.*?</script>|<style.*?</style>|data:[a-z/+-]+;base64,[^\"']*", "", html))
}

test_that("the template renders as it comes", {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available("1.14"))
  html <- pages()
  expect_match(html, "This is a demonstration", fixed = TRUE)
  expect_match(html, "adjacency: replace-one", fixed = TRUE)
  expect_match(html, "origin of these bounds</td> <td[^>]*>made up for this page, as the caller says")
  expect_no_match(html, "Note:", fixed = TRUE)
  expect_match(html, "releases", fixed = TRUE) # the ledger's table
  # what its errors are about
  expect_match(html, "expected error of the privacy noise", fixed = TRUE)
  expect_match(html, "the mean of the records moved to the public ball", fixed = TRUE)
  expect_match(html, "clipping and sampling are not in it", fixed = TRUE)
})

test_that("a saved release is reported with its guarantee, and nothing of its records", {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available("1.14"))
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  x <- matrix(c(123.4567, 98.7654), 50, 2, byrow = TRUE)
  saveRDS(dp_mean(x, euclidean(2), epsilon = 40.37, center = c(0, 0), radius = 20, clipped = 0.2), file)
  html <- pages(list(release = file))
  expect_match(html, "40.37", fixed = TRUE)
  expect_no_match(html, "This is a demonstration", fixed = TRUE)
  expect_no_match(html, "123.4567", fixed = TRUE)
  expect_match(html, "No ledger was given", fixed = TRUE)
  expect_match(html, "not stated in the release", fixed = TRUE)
  expect_match(html, "Note:</strong> [^ ]+ = 40.37 promises next to nothing")
  # the noisy share of records outside, where it was released
  expect_match(html, "the share of them is part of the release", fixed = TRUE)
  expect_match(html, "outside the ball: [0-9.]+ % of the records as released")
  if (!quick()) {
    fit <- dp_lm(mpg ~ wt, mtcars, epsilon = 4, bounds = list(wt = c(1, 6), mpg = c(center = 20, scale = 6)))
    saveRDS(fit, file)
    expect_match(pages(list(release = file)), "the fit without noise to records that keep the public bounds", fixed = TRUE)
  }
  saveRDS(with_simulation(1, dp_mean(x, euclidean(2), epsilon = 0.37, center = c(0, 0), radius = 20)), file)
  expect_match(pages(list(release = file)), "No privacy is promised", fixed = TRUE)
})

test_that("each citation leads to its paper", {
  cited <- utils::citation("riemdp")
  expect_equal(unlist(lapply(unclass(cited), function(e) attr(e, "key"))),
               c("riemdp", "reimherr2021", "soto2022", "utpala2023", "han2022", "kulkarni2025"))
  for (e in unclass(cited)[-1]) expect_true(!is.null(e$doi) || !is.null(e$url))
})
