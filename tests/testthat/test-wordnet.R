# A dictionary of nine synsets in WordNet's format: mammal; dog and cat below it; poodle below dog; a pet below both dog and cat (two
# parents); Lassie, an instance of poodle; a tusker below mammal; a dog that is a sausage, outside; entity above mammal.
small_wordnet <- function() {
  path <- tempfile("wordnet")
  dir.create(path)
  synset <- function(offset, words, ...) {
    pointers <- list(...)
    paste0(offset, " 05 n ", sprintf("%02x", length(words)), " ", paste(words, "0", collapse = " "), " ",
           sprintf("%03d", length(pointers)), if (length(pointers)) " ", paste(unlist(pointers), collapse = " "), " | a gloss | with a bar")
  }
  writeLines(c(
    "  1 the licence", "  2 of the files",
    synset("00000100", "entity", "~ 00000200 n 0000"),
    synset("00000200", c("mammal", "mammalian"), "@ 00000100 n 0000", "~ 00000300 n 0000", "#m 00000900 n 0000"),
    synset("00000300", c("dog", "domestic_dog"), "@ 00000200 n 0000"),
    synset("00000400", "cat", "@ 00000200 n 0000", "+ 00000001 v 0101"),
    synset("00000500", "poodle", "@ 00000300 n 0000"),
    synset("00000600", "Pet", "@ 00000300 n 0000", "@ 00000400 n 0000"),
    synset("00000700", "Lassie", "@i 00000500 n 0000"),
    synset("00000800", "tusker", "@ 00000200 n 0000"),
    synset("00000900", "dog", "@ 00000100 n 0000")
  ), file.path(path, "data.noun"))
  writeLines(c(
    "  1 the licence",
    "cat n 1 1 @ 1 0 00000400  ", "dog n 2 1 @ 2 0 00000900 00000300  ", "entity n 1 0 1 0 00000100  ", "lassie n 1 1 @i 1 0 00000700  ",
    "mammal n 1 1 @ 1 0 00000200  ", "pet n 1 1 @ 1 0 00000600  ", "poodle n 1 1 @ 1 0 00000500  ", "tusker n 1 1 @ 1 0 00000800  "
  ), file.path(path, "index.noun"))
  path
}

test_that("a subtree is read with instances, several parents and senses", {
  path <- small_wordnet()
  m <- read_wordnet_mammals(path, drop = "tusker.n.01")
  expect_identical(m$nodes, c("cat.n.01", "dog.n.02", "lassie.n.01", "mammal.n.01", "pet.n.01", "poodle.n.01"))
  named <- function(e) paste(m$nodes[e$child], m$nodes[e$ancestor])
  expect_setequal(named(m$direct), c("cat.n.01 mammal.n.01", "dog.n.02 mammal.n.01", "poodle.n.01 dog.n.02", "pet.n.01 dog.n.02",
                                     "pet.n.01 cat.n.01", "lassie.n.01 poodle.n.01"))
  expect_setequal(setdiff(named(m$edges), named(m$direct)), c("poodle.n.01 mammal.n.01", "pet.n.01 mammal.n.01",
                                                              "lassie.n.01 dog.n.02", "lassie.n.01 mammal.n.01"))
  expect_false(anyDuplicated(m$edges) > 0)
  expect_length(read_wordnet_mammals(path, drop = character())$nodes, 7)
  expect_identical(read_wordnet_mammals(path, root = "dog.n.01", drop = character())$nodes, "dog.n.01")
})

test_that("what isn't WordNet is refused", {
  path <- small_wordnet()
  bad <- function(...) expect_error(read_wordnet_mammals(...), class = "riemdp_error_argument")
  bad(tempfile())
  bad(path) # female_mammal.n.01 isn't there
  bad(path, root = "unicorn.n.01")
  bad(path, drop = "dog.n.02") # no leaf
  bad(path, drop = 1)
  bad(c("a", "b"))
  writeLines("nothing", file.path(path, "data.noun"))
  bad(path)
})

test_that("WordNet 3.0's mammals are 1,180 nodes and 6,540 edges", {
  path <- "/usr/share/wordnet"
  skip_if_not(file.exists(file.path(path, "data.noun")))
  m <- read_wordnet_mammals(path)
  expect_length(m$nodes, 1180)
  expect_equal(nrow(m$edges), 6540)
  expect_length(read_wordnet_mammals(path, drop = character())$nodes, 1182)
})
