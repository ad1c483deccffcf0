//! The repository: its documents and its sources are true of each other.

mod circles;
mod guide;
mod measured;
mod serve_docs;
mod serve_guide;
mod words;
