//! The content codings that requests can have.

/// Returns whether a content coding is one that requests can have.
#[must_use]
pub fn is_known(name: &str) -> bool {
    matches!(name, "gzip" | "deflate" | "br" | "zstd")
}

/// Returns what is wrong with a content coding that requests cannot have.
#[must_use]
pub fn unknown(name: &str) -> String {
    format!("unknown compression algorithm {name}, supported algorithms are [gzip deflate zstd br]")
}
