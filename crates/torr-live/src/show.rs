//! The thread that draws a full screen and reads keys, and its messages.

use crate::screen::{self, Frames};
use crate::signals::{self, Watch};
use crate::theme::Theme;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyEvent};
use ratatui::{Frame, Terminal};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The longest time that the thread which draws may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a screen shows.
pub trait Shown: Send + 'static {
    /// Notes the time in seconds since the beginning, before each frame.
    fn at(&mut self, elapsed_s: f64);

    /// Draws a frame.
    fn draw(&self, frame: &mut Frame<'_>, theme: &Theme);

    /// Does what a key stands for. Returns whether the screen is to be drawn anew.
    fn key(&mut self, key: KeyEvent) -> bool;

    /// Notes that the program was suspended and goes on.
    fn continued(&mut self);
}

/// A change of what is shown, which has the time in seconds since the beginning.
type Change<S> = Box<dyn FnOnce(&mut S, f64) + Send>;

/// A message to the thread that draws.
enum Message<S> {
    /// What is shown changes.
    Change(Change<S>),
    /// What is shown begins.
    Begins,
    /// The program was stopped and goes on.
    Continued,
    /// Nothing is to be shown any more.
    End,
}

/// A full screen. Dropping it restores the terminal.
pub struct Show<S> {
    messages: Option<Sender<Message<S>>>,
    drawing: Option<JoinHandle<()>>,
    signals: Option<Watch>,
}

impl<S> fmt::Debug for Show<S> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Show").finish_non_exhaustive()
    }
}

impl<S: Shown> Show<S> {
    /// Shows the screen of what began at a moment, or begins with [`Show::begins`].
    ///
    /// # Errors
    /// If there is no terminal, or the system refuses a thread.
    pub fn start(shown: S, began: Option<Instant>) -> io::Result<Self> {
        screen::show()?;
        let mut show = Self { messages: None, drawing: None, signals: None };
        let (sender, messages) = channel();
        let again = sender.clone();
        // Without a receiver the run has ended.
        show.signals = Some(signals::watch(move || _ = again.send(Message::Continued))?);
        show.messages = Some(sender);
        let terminal = Terminal::new(CrosstermBackend::new(Frames::default()))?;
        let keyboard = screen::keyboard()?;
        let drawing = Drawing { terminal, keyboard, shown, began, theme: Theme::of_environment() };
        show.drawing = Some(thread::Builder::new().name("live".into()).spawn(move || drawing.run(&messages))?);
        Ok(show)
    }

    /// Notes that what is shown begins now.
    pub fn begins(&self) {
        self.send(Message::Begins);
    }

    /// Changes what is shown, at the time in seconds since the beginning.
    pub fn change(&self, change: impl FnOnce(&mut S, f64) + Send + 'static) {
        self.send(Message::Change(Box::new(change)));
    }

    fn send(&self, message: Message<S>) {
        if let Some(messages) = &self.messages {
            // A thread that draws no more is no reason to end a run.
            let _ = messages.send(message);
        }
    }
}

impl<S> Drop for Show<S> {
    fn drop(&mut self) {
        if let Some(messages) = self.messages.take() {
            let _ = messages.send(Message::End);
        }
        drop(self.signals.take());
        if let Some(drawing) = self.drawing.take() {
            let began = Instant::now();
            // A terminal that was closed within the moment between a look at it and its reading holds the thread for ever.
            while !drawing.is_finished() && began.elapsed() < PATIENCE {
                thread::sleep(screen::TICK / 10);
            }
            if drawing.is_finished() {
                // Its panic was shown already.
                let _ = drawing.join();
            }
        }
        screen::restore();
    }
}

/// The state of the thread that draws.
struct Drawing<S> {
    terminal: Terminal<CrosstermBackend<Frames>>,
    keyboard: OwnedFd,
    shown: S,
    /// When what is shown began.
    began: Option<Instant>,
    theme: Theme,
}

impl<S: Shown> Drawing<S> {
    /// Draws and reads keys until the end.
    fn run(mut self, messages: &Receiver<Message<S>>) {
        loop {
            loop {
                match messages.try_recv() {
                    Ok(Message::Change(change)) => {
                        let elapsed_s = self.elapsed_s();
                        change(&mut self.shown, elapsed_s);
                    }
                    Ok(Message::Begins) => self.began = Some(Instant::now()),
                    Ok(Message::Continued) => {
                        self.shown.continued();
                        // If the terminal refuses, the next frame fails as well.
                        let _ = self.redraw();
                    }
                    Err(TryRecvError::Empty) => break,
                    Ok(Message::End) | Err(TryRecvError::Disconnected) => return,
                }
            }
            let elapsed_s = self.elapsed_s();
            self.shown.at(elapsed_s);
            if !screen::is_shown() {
                // In the background, or restored: keys belong to others.
                thread::sleep(screen::TICK);
                continue;
            }
            let (shown, theme) = (&self.shown, &self.theme);
            if self.terminal.draw(|frame| shown.draw(frame, theme)).is_err() || self.read_keys().is_err() {
                // The terminal is gone, or refuses: the run goes on without a screen.
                return screen::restore();
            }
        }
    }

    /// Waits for keys, and does what they stand for.
    fn read_keys(&mut self) -> io::Result<()> {
        // crossterm reads a terminal that was closed for ever, in the hope of a key.
        screen::wait_for_key(&self.keyboard)?;
        // All that has come is read at once: crossterm keeps it, and the terminal would have no more.
        while event::poll(Duration::ZERO)? {
            let is_stale = match event::read()? {
                Event::Key(key) => self.shown.key(key),
                Event::Resize(..) => true,
                _ => false,
            };
            if is_stale {
                self.redraw()?;
            }
        }
        Ok(())
    }

    fn elapsed_s(&self) -> f64 {
        self.began.map_or(0.0, |began| began.elapsed().as_secs_f64())
    }

    /// Has the next frame drawn in full, since what the terminal shows is not known.
    fn redraw(&mut self) -> io::Result<()> {
        // Terminal::clear would ask the terminal for the cursor's position, and wait for its response.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }
}
