//! The repository: its documents and its sources are true of each other.

mod circles;
mod failed_targets;
mod guide;
mod guide_commands;
mod measured;
mod serve_docs;
mod serve_guide;
mod words;
