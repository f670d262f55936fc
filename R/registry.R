# What is built above and used below, without being named there: kernels for chunks, mechanisms, methods. furnish()
# enters all of them when the package is loaded; a lower storey finds them by kind and name.

registry <- new.env(parent = emptyenv())

register <- function(kind, entries) {
  registry[[kind]][names(entries)] <- entries
}

# the entry of that name or NULL; without a name all of the kind, in the order in which they were entered
registered <- function(kind, name) {
  if (missing(name)) return(registry[[kind]])
  if (is.character(name) && length(name) == 1 && !is.na(name)) registry[[kind]][[name]]
}
