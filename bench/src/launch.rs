//! The launcher: takes up one CPU, ties its life to the driver's, and becomes the program to be measured.
//!
//! It does what `taskset` does, and one thing more: the kernel ends the program when the driver dies, even of SIGKILL. Both
//! settings outlive `exec`, and the process id stays, so what is measured is the program alone.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::child::ALL_CPUS;
use crate::cpu;
use torr_test_support::error::Error;

/// Arguments of the launcher.
#[derive(Args)]
pub struct Launch {
    /// CPU to run on
    pub cpu: usize,
    /// Process id of the driver
    pub parent: i32,
    /// Program and arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

/// Becomes the program; returns only if that fails.
pub fn run(args: &Launch) -> Result<(), Error> {
    set_parent_process_death_signal(Some(Signal::TERM))?;
    if getppid().is_none_or(|parent| parent.as_raw_nonzero().get() != args.parent) {
        return Err(Error::Interrupted); // the driver died before the line above
    }
    if args.cpu != ALL_CPUS {
        cpu::pin(args.cpu)?;
    }
    let program = &args.command[0];
    Err(Error::at(format!("cannot start {}", program.display()))(Command::new(program).args(&args.command[1..]).exec()))
}
