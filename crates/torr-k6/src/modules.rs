//! The modules of a script: names resolved, sources read or fetched once, TypeScript lowered, and all of them handed
//! to the runtimes of the virtual users.

mod access;
mod address;
mod builtin;
mod bytecode;
mod common_js;
mod compile;
mod error;
mod init;
mod lines;
mod loader;
mod lower;
mod main_module;
mod nesting;
mod normal_path;
mod program;
mod sent_files;
mod unit;

pub use access::{Access, Fetch};
pub use builtin::Builtins;
pub use error::ModuleError;
pub use init::{InitContext, executing, in_init, leave_init, require_init};
pub use lines::Position;
pub use main_module::{define_require, exports, import_main, set_loader};
pub use program::Program;
pub use sent_files::SentFiles;
