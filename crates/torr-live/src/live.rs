//! The thread that draws, and its messages.

use crate::draw;
use crate::keys::{Key, meaning};
use crate::log::Tone;
use crate::screen::{self, Frames};
use crate::signals::{self, Watch};
use crate::theme::Theme;
use crate::view::{Load, View};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use torr_gauge::RunResult;
use torr_gauge::collector::Progress;
use torr_press::Steering;

/// The longest time that the thread which draws may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// A message to the thread that draws.
enum Message {
    /// What is complete.
    Update(Box<(Progress, Arc<RunResult>)>),
    /// A run of other machines begins.
    Begins,
    /// What happened elsewhere, in a line.
    Note(String),
    /// The program was stopped and goes on.
    Continued,
    /// The run has ended.
    End,
}

/// The screen of a run. Dropping it restores the terminal.
#[derive(Debug)]
pub struct Live {
    messages: Option<Sender<Message>>,
    drawing: Option<JoinHandle<()>>,
    signals: Option<Watch>,
}

impl Live {
    /// Shows the screen of a run that is about to begin, or of other machines' run, which begins with [`Live::begins`]. `stop` tells
    /// that the run was interrupted.
    ///
    /// # Errors
    /// If there is no terminal, or the system refuses a thread.
    pub fn start(load: Load, steering: Arc<Steering>, stop: Arc<AtomicBool>) -> io::Result<Self> {
        screen::show()?;
        let mut live = Self { messages: None, drawing: None, signals: None };
        let (sender, messages) = channel();
        let again = sender.clone();
        // Without a receiver the run has ended.
        live.signals = Some(signals::watch(move || _ = again.send(Message::Continued))?);
        live.messages = Some(sender);
        let terminal = Terminal::new(CrosstermBackend::new(Frames::default()))?;
        let keyboard = screen::keyboard()?;
        let view = View::new(load, steering.state());
        let (began, theme) = (view.load.begins_at_once().then(Instant::now), Theme::of_environment());
        let drawing = Drawing { terminal, keyboard, view, steering, stop, began, theme };
        live.drawing = Some(thread::Builder::new().name("live".into()).spawn(move || drawing.run(&messages))?);
        Ok(live)
    }

    /// Notes that a run of other machines begins now.
    pub fn begins(&self) {
        self.send(Message::Begins);
    }

    /// Shows in the log what happened elsewhere.
    pub fn note(&self, line: &str) {
        self.send(Message::Note(line.to_owned()));
    }

    /// Hands over what is complete.
    pub fn update(&self, progress: &Progress, result: &Arc<RunResult>) {
        self.send(Message::Update(Box::new((progress.clone(), Arc::clone(result)))));
    }

    fn send(&self, message: Message) {
        if let Some(messages) = &self.messages {
            // A thread that draws no more is no reason to end a run.
            let _ = messages.send(message);
        }
    }
}

impl Drop for Live {
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
struct Drawing {
    terminal: Terminal<CrosstermBackend<Frames>>,
    keyboard: OwnedFd,
    view: View,
    steering: Arc<Steering>,
    stop: Arc<AtomicBool>,
    /// When the run began.
    began: Option<Instant>,
    theme: Theme,
}

impl Drawing {
    /// Draws and reads keys until the run has ended.
    fn run(mut self, messages: &Receiver<Message>) {
        loop {
            loop {
                match messages.try_recv() {
                    Ok(Message::Update(update)) => {
                        let (progress, result) = *update;
                        self.view.update(progress, result);
                    }
                    Ok(Message::Begins) => self.began = Some(Instant::now()),
                    Ok(Message::Note(line)) => self.view.note(&line),
                    Ok(Message::Continued) => self.continued(),
                    Err(TryRecvError::Empty) => break,
                    Ok(Message::End) | Err(TryRecvError::Disconnected) => return,
                }
            }
            self.view.at(self.elapsed_s());
            self.view.state = self.steering.state();
            if self.stop.load(Ordering::Relaxed) {
                self.view.ending("interrupted: Ctrl-C again ends at once");
            }
            if !screen::is_shown() {
                // In the background, or restored: keys belong to others.
                thread::sleep(screen::TICK);
                continue;
            }
            let (view, theme) = (&self.view, &self.theme);
            if self.terminal.draw(|frame| draw::draw(frame, view, theme)).is_err() {
                return self.give_up();
            }
            match self.read_keys() {
                Ok(()) => {}
                Err(_) => return self.give_up(),
            }
        }
    }

    /// Waits for keys, and does what they stand for.
    fn read_keys(&mut self) -> io::Result<()> {
        // crossterm reads a terminal that was closed for ever, in the hope of a key.
        screen::wait_for_key(&self.keyboard)?;
        // All that has come is read at once: crossterm keeps it, and the terminal would have no more.
        while event::poll(Duration::ZERO)? {
            let key = match event::read()? {
                Event::Key(key) => meaning(key, self.view.load.steerable),
                Event::Resize(..) => Some(Key::Redraw),
                _ => None,
            };
            match key {
                Some(Key::Wish(wish)) => self.view.fulfil(wish, &self.steering),
                Some(Key::Help) => self.view.shows_help = !self.view.shows_help,
                Some(Key::Redraw) => self.redraw()?,
                None => {}
            }
        }
        Ok(())
    }

    fn elapsed_s(&self) -> f64 {
        self.began.map_or(0.0, |began| began.elapsed().as_secs_f64())
    }

    fn continued(&mut self) {
        let text = "the program was suspended, and so was the load";
        self.view.log.add(self.elapsed_s() - self.view.load.warmup_s, text, Tone::Warn);
        // If the terminal refuses, the next frame fails as well.
        let _ = self.redraw();
    }

    /// Has the next frame drawn in full, since what the terminal shows is not known.
    fn redraw(&mut self) -> io::Result<()> {
        // Terminal::clear would ask the terminal for the cursor's position, and wait for its response.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }

    /// The terminal is gone, or refuses: the run goes on without a screen.
    fn give_up(&self) {
        screen::restore();
    }
}
