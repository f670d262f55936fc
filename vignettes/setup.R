# What all vignettes and articles share.
knitr::opts_chunk$set(collapse = TRUE, comment = "#>", fig.width = 7, fig.height = 3.6, out.width = "100%", dpi = 96)
gg <- requireNamespace("ggplot2", quietly = TRUE)
options(rgl.useNULL = TRUE) # the package 'shapes' would look for a display
set.seed(1)
