//! The forbidden words, and the exceptions from the rules of this folder, each with its reason.

/// Words that comments and identifiers do not use, and what to use instead. An entry of several words is the beginning of a
/// comment.
pub const WORDS: &[(&str, &str)] = &[
    ("answer", "a response"),
    ("answers", "responses"),
    ("anybody", "a noun that names who"),
    ("asked", "in flight, requested, or the noun"),
    ("bell", "a wake-up or a signal"),
    ("desk", "a worker's context"),
    ("guest", "a router or a service"),
    ("lateness", "send lag"),
    ("nobody", "a noun that names who"),
    ("patient", "the target"),
    ("seat", "a connection within the limit"),
    ("seats", "the concurrency limit"),
    ("somebody", "a noun that names who"),
    ("told", "reported, sent or known"),
    ("ward", "evidence"),
    ("whoever", "a noun that names who"),
    ("whom", "a noun that names who"),
    ("The same", "the noun and the verb again"),
];

/// The parts of the workspace that still use a word, on their way to the vocabulary. A part that is free of a word
/// is deleted here: the test demands it.
pub const NOT_YET: &[(&str, &str)] = &[("asked", "torr-session")];

/// Sources of more lines than the limit, with the reason.
pub const LONG_FILES: &[(&str, &str)] = &[];

/// Documents with wider lines of prose, with the reason.
pub const WIDE_DOCUMENTS: &[(&str, &str)] = &[];
