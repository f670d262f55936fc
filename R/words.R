# Signs and words as they are printed.

symbol <- function(which, ascii = FALSE) {
  if (!ascii && isTRUE(l10n_info()[["UTF-8"]])) SYMBOLS[[which]] else which
}
SYMBOLS <- c(epsilon = "\u03b5", delta = "\u03b4", sigma = "\u03c3", mu = "\u03bc")

# What help, vignettes and messages say of a table's entries, in Markdown. Names: "a", "b" or "c"
choice_words <- function(names, last = "or", code = FALSE, mark = "\"") {
  words <- paste0(if (code) "`", mark, names, mark, if (code) "`")
  n <- length(words)
  if (n < 2) words else paste(paste(words[-n], collapse = ", "), last, words[n])
}

# a list with one entry's text in each item
entry_items <- function(entries, field) {
  paste0("* `\"", names(entries), "\"`: ", vapply(entries, `[[`, "", field), collapse = "\n")
}

# the same within a sentence
entry_list <- function(entries, field) {
  paste0("`\"", names(entries), "\"`: ", vapply(entries, `[[`, "", field), collapse = "; ")
}

# a table with a row for each entry, whose first column has the names
entry_rows <- function(entries, head, fields) {
  cells <- vapply(fields, function(field) vapply(entries, `[[`, "", field), character(length(entries)))
  rows <- cbind(sprintf("`\"%s\"`", names(entries)), cells)
  lines <- c(paste(head, collapse = " | "), strrep("---|", length(head)), apply(rows, 1, paste, collapse = " | "))
  paste0(c("| ", "|", rep("| ", nrow(rows))), lines, c(" |", "", rep(" |", nrow(rows))), collapse = "\n")
}
