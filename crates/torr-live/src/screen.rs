//! The terminal as it was found, and the way back to that: after the run, a panic, a signal, and while the program is stopped.

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// How long a key is waited for before the time is drawn anew; less than a second.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The terminal of this program's screen, while there is one.
static SCREEN: Mutex<Option<Screen>> = Mutex::new(None);

/// Returns whether there is a terminal for a full screen: standard error to draw on, and one to read keys from.
pub fn is_possible() -> bool {
    let is_capable = std::env::var("TERM").is_ok_and(|term| !term.is_empty() && term != "dumb");
    is_capable && isatty(io::stderr()) && keyboard().is_ok()
}

/// Restores the terminal, if it shows the screen. Nothing is drawn afterwards. May be called at any time from any thread.
pub fn restore() {
    if let Some(screen) = lock().take() {
        screen.leave(&mut io::stderr());
    }
}

/// Shows the screen, and restores the terminal also after a panic.
///
/// # Errors
/// If the terminal refuses.
pub(crate) fn show() -> io::Result<()> {
    restore_after_panics();
    let screen = Screen::enter(keyboard()?, &mut io::stderr())?;
    *lock() = Some(screen);
    Ok(())
}

/// Shows the screen again after the program was stopped, unless it runs in the background now.
pub(crate) fn show_again() -> io::Result<()> {
    let tty = keyboard()?;
    if tcgetpgrp(&tty)? != rustix::process::getpgrp() {
        // A program in the background that changes the terminal would be stopped.
        return Ok(());
    }
    // The shell has its own modes, so that those of before are the ones to return to.
    let before = lock().take().map(|screen| screen.before);
    let mut screen = Screen::enter(tty, &mut io::stderr())?;
    screen.before = before.unwrap_or(screen.before);
    *lock() = Some(screen);
    Ok(())
}

/// Returns whether the screen is shown.
pub(crate) fn is_shown() -> bool {
    lock().is_some()
}

fn lock() -> MutexGuard<'static, Option<Screen>> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the terminal that keys come from, as crossterm chooses it.
pub(crate) fn keyboard() -> io::Result<OwnedFd> {
    if isatty(io::stdin()) {
        return Ok(rustix::io::dup(io::stdin())?);
    }
    Ok(File::options().read(true).write(true).open("/dev/tty")?.into())
}

/// Waits until a key was pressed, or it is time to draw anew.
///
/// # Errors
/// If the terminal was closed.
pub(crate) fn wait_for_key(keyboard: &OwnedFd) -> io::Result<()> {
    let mut watched = [PollFd::new(keyboard, PollFlags::IN)];
    let longest = Timespec { tv_sec: 0, tv_nsec: i64::from(TICK.subsec_nanos()) };
    match poll(&mut watched, Some(&longest)) {
        // A change of the size: crossterm knows.
        Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) if watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
        Ok(_) => Ok(()),
    }
}

/// The message of a panic belongs on the terminal as it was.
fn restore_after_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
}

/// A terminal that shows the screen.
struct Screen {
    tty: OwnedFd,
    /// The terminal's modes as they were found.
    before: Termios,
}

impl Screen {
    /// Switches to the alternate screen, and has keys delivered one by one without echo. Signals stay with their keys.
    fn enter(tty: OwnedFd, out: &mut impl Write) -> io::Result<Self> {
        let before = tcgetattr(&tty)?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        modes.local_modes.insert(LocalModes::ISIG);
        modes.input_modes.remove(InputModes::IXON);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(tty.as_fd(), OptionalActions::Now, &modes)?;
        let screen = Self { tty, before };
        match execute!(out, EnterAlternateScreen, Hide) {
            Ok(()) => Ok(screen),
            Err(error) => {
                screen.leave(out);
                Err(error)
            }
        }
    }

    /// Returns to what was there before. A failure cannot be shown anywhere.
    fn leave(self, out: &mut impl Write) {
        let _ = execute!(out, LeaveAlternateScreen, Show);
        let _ = tcsetattr(&self.tty, OptionalActions::Flush, &self.before);
    }
}

/// The writer of the drawing: a frame reaches the terminal at once, and only while the screen is shown.
#[derive(Debug, Default)]
pub(crate) struct Frames(Vec<u8>);

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let screen = lock();
        let frame = std::mem::take(&mut self.0);
        if screen.is_none() {
            return Ok(());
        }
        let mut out = io::stderr().lock();
        out.write_all(&frame)?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    /// Returns both sides of a new terminal, the program's second.
    fn terminal() -> (OwnedFd, OwnedFd) {
        let outside = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&outside).and_then(|()| unlockpt(&outside)).expect("it is ours");
        let name = ptsname(&outside, Vec::new()).expect("it has a name");
        let path = name.to_str().expect("the name is text").to_owned();
        let inside =
            rustix::fs::open(path, rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY, rustix::fs::Mode::empty());
        (outside, inside.expect("the other side"))
    }

    fn modes(tty: &OwnedFd) -> (LocalModes, InputModes) {
        let modes = tcgetattr(tty).expect("it is a terminal");
        (modes.local_modes, modes.input_modes)
    }

    #[test]
    fn a_panic_leaves_the_terminal_as_it_was_found() {
        let (_outside, inside) = terminal();
        let before = modes(&inside);
        let entered = Screen::enter(inside.try_clone().expect("a copy"), &mut Vec::new()).expect("a screen");
        assert_ne!(modes(&inside), before, "keys come one by one");
        assert!(modes(&inside).0.contains(LocalModes::ISIG), "Ctrl-C is still a signal");
        *lock() = Some(entered);
        restore_after_panics();
        let panicked = std::panic::catch_unwind(|| panic!("on purpose"));
        assert!(panicked.is_err());
        assert_eq!((modes(&inside), is_shown()), (before, false));
        restore();
        assert_eq!(modes(&inside), before, "a second time changes nothing");
    }

    #[test]
    fn what_is_written_leaves_the_alternate_screen_and_shows_the_cursor() {
        let (_outside, inside) = terminal();
        let mut out = Vec::new();
        let screen = Screen::enter(inside, &mut out).expect("a screen");
        assert_eq!(String::from_utf8_lossy(&out), "\u{1b}[?1049h\u{1b}[?25l");
        out.clear();
        screen.leave(&mut out);
        assert_eq!(String::from_utf8_lossy(&out), "\u{1b}[?1049l\u{1b}[?25h");
    }
}
