library(testthat)
library(riemdp)

test_check("riemdp")
