# Messages between analyst and site: what is written comes back to the last bit, and nothing else is read.

skip_if_not_installed("jsonlite")

zeros <- strrep("0", 32)
hash <- strrep("a", 64)
request_text <- function(fields) wire_write("request", id = zeros, policy = hash, statistic = "noisy", fields = lapply(fields, wire_value))
fields_of <- function(text) wire_read(text, "request")$fields

test_that("values come back to the last bit", {
  set.seed(1)
  values <- list(pi = pi, tiny = 5e-324, huge = -.Machine$double.xmax, zero = -0, whole = -3:4, none = NULL, yes = TRUE, word = "a b, {c}",
                 matrix = matrix(rnorm(12), 3), cube = array(rnorm(24), 2:4), empty = double(), list = list(1, "x", NULL, list(FALSE)),
                 named = list(a = 1L, b = list(c = 2.5)))
  back <- fields_of(request_text(values))
  expect_identical(back, values)
  expect_identical(1 / back$zero, -Inf)
})

test_that("every manifold comes back as it was, and one with parts of its own isn't sent", {
  spaces <- list(
    euclidean(3), sphere(2), spd(2), spd(2, "bures"), spd(3, "log-euclidean"), spd(3, "log-cholesky", 1e-8), hermitian_spd(2), kendall(5), kendall(5, 3),
    kendall(5, links = rbind(1:2)), size_and_shape(4), size_and_shape(5, 3), hyperbolic(2), hyperbolic(2, "ball"), hyperbolic(2, curvature = -2),
    hyperbolic(2, "ball", -1 / 3), rotations(2), rotations(3), rotations(4), rigid(3, 1.7), simplex(3), simplex(3, "fisher"), psd(3, 1), correlation(3),
    correlation(3, "log-cholesky"), stiefel(4, 2), stiefel(4, 2, "canonical"), grassmann(4, 2), torus(2), oblique(3, 4), product(sphere(2), weights = 1 / 3),
    product(a = torus(2), b = product(spd(2), sphere(1), weights = c(2, 1 / 3)))
  )
  for (M in spaces) {
    expect_identical(fields_of(request_text(list(M = M)))$M, M)
    p <- tryCatch(problem_huber(M, 0.7), error = function(e) NULL)
    expect_identical(fields_of(request_text(list(p = p)))$p, p)
  }
  own <- manifold_custom(1, 1, function(p, v) p + v, function(p, q) q - p)
  expect_error(wire_value(own), class = "riemdp_error_unsupported")
  expect_error(wire_value(problem(NULL, function(w, z) z, euclidean(2))), class = "riemdp_error_unsupported")
  titled <- rotations(3)
  titled$title <- "mine"
  expect_error(wire_value(titled), class = "riemdp_error_unsupported")
  for (v in list(identity, quote(a), globalenv(), "a \"b\"", "a\\b", "\u00e4", Sys.time(), 1i, c("a", "b"), NA, c(TRUE, FALSE), factor("a"))) {
    expect_error(wire_value(v), class = "riemdp_error_unsupported")
  }
})

test_that("numbers that aren't finite, halves of numbers and other shapes are no message", {
  number <- function(bytes, ...) list(double = base64(as.raw(bytes)), ...)
  text <- function(v) as.character(jsonlite::toJSON(list(riemdp = 1, type = "answer", id = zeros, policy = hash, value = v), auto_unbox = TRUE, null = "null"))
  expect_identical(wire_read(text(number(c(0, 0, 0, 0, 0, 0, 0xf0, 0x3f))))$value, 1)
  payload <- c(1, 2, 3, 4, 5, 6, 0xf8, 0x7f) # a NaN that carries 6 bytes
  bad <- list(number(payload), number(c(0, 0, 0, 0, 0, 0, 0xf0, 0x7f)), number(1:7), number(1:8, dim = list(2)), number(1:8, dim = list(-1)),
              number(1:8, dim = list(0.5)), list(double = "AAAA*AAA"), list(double = "AAA"), list(double = "A=AA"), list(integer = base64(as.raw(c(0, 0, 0,
                                                                                                                                                   0x80)))),
              list(double = 1), list(double = list("AAAAAAAA8D8=")), list(text = "a"), 1, list(1, 2), list(manifold = list(name = "sphere", param = list(2.5))),
              list(manifold = list(name = "sphere", param = list(1e9))), list(manifold = list(name = "system", param = list(1))),
              list(manifold = list(name = "sphere", param = list(2), more = 1)), list(manifold = list(name = "spd_affine", param = list(2))),
              list(problem = list(kind = "callback", threshold = number(c(0, 0, 0, 0, 0, 0, 0xf0, 0x3f)), manifold = list(name = "sphere", param = list(2)))))
  for (v in bad) expect_error(wire_read(text(v)), class = "riemdp_error_wire")
})

test_that("what is no message is refused as such", {
  good <- request_text(list(a = 1))
  expect_identical(wire_read(good)$statistic, "noisy")
  change <- function(from, to) sub(from, to, good, fixed = TRUE)
  expect_false(identical(change("noisy", "x"), good))
  bad <- list(
    NULL, NA_character_, character(), c(good, good), 1, "", " ", "null", "[]", "{}", "1", "\"a\"", good |> paste0(","), paste0(good, good), substr(good, 1, 40),
    change("\"riemdp\":1", "\"riemdp\":2"), change("\"riemdp\":1", "\"riemdp\":1e999"), change("\"riemdp\":1", "\"riemdp\":\"1\""),
    change("\"type\":\"request\"", "\"type\":\"requests\""), change("\"type\":\"request\"", "\"type\":[\"request\"]"),
    change("{\"riemdp\"", "{\"riemdp\":1,\"riemdp\""), change("\"id\":", "\"more\":1,\"id\":"), change(zeros, substr(zeros, 2, 32)), change(zeros, strrep("g",
                                                                                                                                                          32)),
    change("noisy", "no isy"), change("noisy", "noisy\\u0041"), change("noisy", "noisy\n"), change("noisy", "n\u00f6isy"), change("\"fields\":{",
                                                                                                                                  "\"fields\":[{"),
    strrep("[", 1e5), paste0(strrep("[", 41), strrep("]", 41)), strrep("{\"a\":", 1e5), paste0("{\"a\":\"", strrep("b", 100), "}"),
    change("\"a\":", "\"a\":null,\"a\":"), "https://example.org/a.json", "/etc/passwd"
  )
  for (text in bad) expect_error(wire_read(text), class = "riemdp_error_wire")
  expect_error(wire_read(paste0("\"", strrep("a", WIRE_MOST), "\"")), "bytes", class = "riemdp_error_wire")
  expect_error(wire_parse(paste0(strrep("[", 41), strrep("]", 41))), "brackets", class = "riemdp_error_wire")
  expect_type(wire_parse(paste0(strrep("[", 40), strrep("]", 40))), "list")
  # what an error says holds nothing of the message
  e <- expect_error(wire_read(change("noisy", "secretword;")), class = "riemdp_error_wire")
  expect_no_match(conditionMessage(e), "secretword")
})

test_that("the schema says what the parser reads", {
  schema <- jsonlite::read_json(system.file("wire", "schema.json", package = "riemdp"))
  kinds <- schema$`$defs`
  expect_identical(schema$properties$riemdp$const, WIRE_VERSION)
  of <- function(type) Filter(function(m) identical(m$properties$type$const, type), kinds)
  for (type in names(WIRE_MESSAGES)) {
    message <- of(type)[[1]]
    expect_setequal(unlist(message$required), c("riemdp", "type", WIRE_MESSAGES[[type]]))
    expect_false(message$additionalProperties)
  }
  for (name in names(WIRE_REQUESTS)) {
    fields <- kinds[[paste0("fields_", name)]]
    expect_setequal(names(fields$properties), names(WIRE_REQUESTS[[name]]))
    expect_setequal(unlist(fields$required), names(WIRE_REQUESTS[[name]])[!endsWith(WIRE_REQUESTS[[name]], "?")])
  }
  expect_setequal(unlist(kinds$refusal$properties$reason$enum), names(WIRE_REASONS))
  expect_setequal(unlist(kinds$manifold$properties$name$examples), names(WIRE_SPACES))
})
