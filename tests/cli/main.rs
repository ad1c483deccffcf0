//! The command line: mistakes in it, the outputs of a run, and the command lines of other load generators.

mod ab;
mod httpress;
mod import;
mod import_files;
mod layout;
mod outputs;
mod plan;
mod script_sessions;
mod scripts;
mod session_outputs;
mod session_runs;
mod sessions;
mod usage;
mod wrk;
