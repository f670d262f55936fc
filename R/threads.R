# Threads inside a call: option riemdp.threads, one by default.

process <- new.env(parent = emptyenv())

# Asked by C where more than one thread is wanted. A forked child must not use the thread pool of its parent: OpenMP
# runtimes may hang there.
threads_allowed <- function() identical(process$id, Sys.getpid())
