//! Languages and modules of scripts that send nothing, each against literal expectations.

mod console;
mod crypto;
mod data;
mod encoding;
mod globals;
mod html;
mod jslib;
mod modules;
mod script;
mod typescript;
mod webcrypto;
