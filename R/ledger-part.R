# What binds a part of a data set: the files that its records lie in, and the column that tells parts from each other
# (proofs/ledger.md, section 10).

#' A part of a data set by a public column
#'
#' For `part` of `dp_*()` functions: the name of a part together with a column that says of each record which part it
#' is of. It is an error (`riemdp_error_argument`, and nothing is spent) if a record is of another part, or if there are
#' more or fewer records than values. Which part a record is of must be public and must not change where a record is
#' replaced: then this can be asked in the open. The ledger keeps the column's name: once a part of a data set was
#' released so, all its parts have to be, by the same column. So nobody releases the same records as two parts by
#' mistake; that the column is true to the records is yours to see to.
#'
#' @param name name of the part, see `data_sets` in [dp_ledger()].
#' @param key vector or factor with the part's name of each record, in their order.
#' @param column name of that column.
#' @return The name, of class `riemdp_part`, with the column's name and the number of records.
#' @seealso [dp_ledger()]
#' @examples
#' ledger <- dp_ledger(NULL, 1, data_sets = list(trial = c("north", "south")))
#' site <- rep(c("north", "south"), c(150, 50))
#' x <- cbind(rnorm(200), rnorm(200))
#' north <- site == "north"
#' dp_mean(x[north, ], euclidean(2), 0.5, center = c(0, 0), radius = 3, ledger = ledger,
#'         data_set = "trial", part = ledger_part("north", site[north], "site"))
#' tryCatch(ledger_part("north", site, "site"), riemdp_error_argument = conditionMessage)
#' @export
ledger_part <- function(name, key, column = "key") {
  name <- check_name(name, "name")
  column <- check_name(column, "column")
  if (is.factor(key)) key <- factor_labels(key)
  if (!is.character(key) || is.object(key) || !is.null(dim(key)) || !length(key)) {
    abort_riemdp("argument", "`key` must be the names of parts, one for each record.")
  }
  if (!all(key %in% name)) {
    abort_riemdp("argument", sprintf(paste("not every record is of the part \"%s\" by `key`: leave out those of other",
                                           "parts. Nothing is released."), name))
  }
  structure(name, class = "riemdp_part", column = column, count = length(key))
}

#' @rdname ledger_part
#' @param x what `ledger_part()` returned.
#' @param ... not used.
#' @export
print.riemdp_part <- function(x, ...) {
  cat(sprintf("part \"%s\" by the column \"%s\"\n", as.vector(x), attr(x, "column")))
  invisible(x)
}

# the name alone
plain_part <- function(part) if (inherits(part, "riemdp_part")) as.vector(part) else part

# that a part's column has a value for each of `n` records
check_part <- function(part, n) {
  if (!inherits(part, "riemdp_part") || identical(as.double(attr(part, "count")), as.double(n))) return(part)
  abort_riemdp("argument", "the column of `part` must have one value for each record. Nothing is released.")
}

# ---- what a ledger keeps of it ---------------------------------------------------------------------------------------

# read(token) gives whose a token is, keep(token, owner) writes it.
claim_part <- function(uid, data_set, part, entry, read, keep) {
  claim_once(uid, entry$once, read, keep)
  if (!nzchar(part)) return(invisible())
  claim_key(uid, data_set, entry$key, read, keep)
  claim_files(uid, data_set, part, entry$files, read, keep)
}

# A request's number is taken with its price, in one transaction: it is paid for once (proofs/ledger.md, section 12)
claim_once <- function(uid, once, read, keep) {
  if (is.null(once)) return(invisible())
  token <- sha256(canonical("riemdp-once", uid, once[["id"]]))
  if (length(read(token))) abort_riemdp("replayed", "this request was paid for before. Nothing is released.")
  keep(token, paste("once", once[["digest"]]))
  if (!is.null(once[["most"]])) claim_slot(uid, once[["of"]], once[["most"]], read, keep)
}

# One of so many slots, the first that is free: they are taken in their order and never given back
claim_slot <- function(uid, of, most, read, keep) {
  free <- slots_taken(uid, of, most, read) + 1
  if (free > most) abort_riemdp("answers", "as many answers were given as are allowed. Nothing is released.")
  keep(slot_token(uid, of, free), "slot")
}

slot_token <- function(uid, of, i) sha256(canonical("riemdp-slot", uid, of, sprintf("%.0f", i)))

slots_taken <- function(uid, of, most, read) {
  taken <- 0
  free <- most + 1
  while (free - taken > 1) {
    i <- floor((taken + free) / 2)
    if (length(read(slot_token(uid, of, i)))) taken <- i else free <- i
  }
  taken
}

# From the first release on that has one, each release of a part has that column (proofs/ledger.md, section 10)
claim_key <- function(uid, data_set, key, read, keep) {
  token <- sha256(canonical("riemdp-key", uid, data_set))
  had <- read(token)
  owner <- if (!is.null(key)) paste("key", key)
  if (!length(had) && !is.null(key)) return(keep(token, owner))
  if (!length(had) || identical(had, owner)) return(invisible())
  abort_riemdp("argument", sprintf(
    paste("the parts of data set \"%s\" are told apart by the column \"%s\": give part = ledger_part(name, key,",
          "\"%s\"). Nothing is released."), data_set, sub("^key ", "", had), sub("^key ", "", had)
  ))
}

# Takes files for a part of a data set; an error where one of them is another part's (proofs/ledger.md, section 10).
# The first token stands for all files together, so that few are looked up where the same ones are released again.
claim_files <- function(uid, data_set, part, files, read, keep) {
  if (!length(files)) return(invisible())
  files <- sort(unique(enc2utf8(files)), method = "radix")
  owner <- paste("part", part)
  all <- sha256(canonical("riemdp-files", uid, data_set, do.call(canonical, as.list(files))))
  if (identical(read(all), owner)) return(invisible())
  tokens <- sha256(canonical("riemdp-file", uid, data_set, files))
  owners <- lapply(tokens, read)
  other <- vapply(owners, function(had) length(had) > 0 && !identical(had, owner), NA)
  if (any(other)) {
    abort_riemdp("argument", sprintf(
      paste("a file of these records was released as %s of data set \"%s\", and this is part \"%s\": parts must not",
            "overlap. Nothing is released."), sub("^part (.*)$", "part \"\\1\"", owners[other][[1]]), data_set, part
    ))
  }
  for (token in c(tokens[lengths(owners) == 0], all)) keep(token, owner)
}
