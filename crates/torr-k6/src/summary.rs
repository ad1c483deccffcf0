//! The summary at the end of a test: data, text, export.
