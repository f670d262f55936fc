# Installs the peers that are missing into the library given. A peer that can't be had is left out of the tables.

library_path <- commandArgs(TRUE)[1]
missing_of <- function(names) names[!vapply(names, function(p) nzchar(system.file(package = p)), logical(1))]

# Debian's build of shapes has 59 packages behind it and takes seconds; tools/setup installs it where it can
absent <- missing_of(c("manifold", "RiemBase", "GeodRegr", "shapes"))
if (length(absent) > 0) {
  repos <- getOption("repos")
  if (identical(unname(repos["CRAN"]), "@CRAN@")) repos["CRAN"] <- "https://cloud.r-project.org"
  message("bench: installing ", paste(absent, collapse = ", "))
  for (name in absent) {
    tryCatch(
      utils::install.packages(name, lib = library_path, repos = repos, quiet = TRUE,
                              dependencies = c("Depends", "Imports", "LinkingTo")),
      error = function(e) message(conditionMessage(e))
    )
  }
}
left <- missing_of(c("manifold", "RiemBase", "GeodRegr", "shapes"))
if (length(left) > 0) message("bench: not to be had, left out: ", paste(left, collapse = ", "))
