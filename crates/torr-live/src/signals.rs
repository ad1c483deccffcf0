//! Being stopped by Ctrl-Z, and continued: the terminal belongs to the shell meanwhile.

use crate::screen;
use signal_hook::consts::{SIGCONT, SIGTSTP};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::thread::{self, JoinHandle};

/// Calls `again` whenever the screen has to be drawn anew, until the watch is dropped.
///
/// # Errors
/// If the system refuses a handler or a thread.
pub fn watch(again: impl Fn() + Send + 'static) -> io::Result<Watch> {
    let mut signals = Signals::new([SIGTSTP, SIGCONT])?;
    let handle = signals.handle();
    let work = move || {
        for signal in signals.forever() {
            if signal == SIGTSTP {
                screen::restore();
                // The whole program stops within this call. What continues it is a signal of its own.
                let _ = emulate_default_handler(SIGTSTP);
                continue;
            }
            let _ = screen::show_again();
            again();
        }
    };
    let thread = thread::Builder::new().name("live-signals".into()).spawn(work)?;
    Ok(Watch { handle, thread: Some(thread) })
}

/// The thread that waits for signals. It has ended once this is dropped, so that it shows no screen afterwards.
#[derive(Debug)]
pub struct Watch {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            // Its panic was shown already.
            let _ = thread.join();
        }
    }
}
