//! Scripts of wrk: each request is what `request()` returns, and `response()`, `delay()` and `done()` are called if defined.

mod outcome;
mod users;

pub use outcome::Outcome;
pub use users::WrkUsers;

use crate::error::ScriptError;
use crate::facts::Facts;
use crate::file::ScriptFile;
use crate::message;
use crate::state::State;
use crate::thread::{ScriptThread, ThreadControl};
use mlua::{Function, LuaString};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use torr_gauge::numbers::count;

/// The longest pause that `delay()` can ask for, a day: longer ones would overflow the clock.
const LONGEST_DELAY_MS: f64 = 86_400_000.0;

/// A script of wrk that is ready to run: its file was run, `setup` and `init` were called for each thread.
#[derive(Debug)]
pub struct WrkScript {
    /// The state of `setup` and `done`, which takes no part in the load.
    control: State,
    threads: Vec<ThreadScript>,
    /// The number of requests in what the first `request()` returned: so many are in flight on each connection.
    pub depth: u16,
    /// Whether the script defines `delay`.
    pub delays: bool,
    /// Whether the script defines `response`, so that responses have to be kept.
    pub wants_response: bool,
    /// The method of the requests that the script does not write itself.
    method: String,
}

/// The script of one load thread.
#[derive(Debug, Clone)]
pub struct ThreadScript {
    state: State,
    control: Arc<ThreadControl>,
    calls: Calls,
    /// The only request of a script that does not define `request`.
    constant: Option<Arc<[u8]>>,
}

#[derive(Debug, Clone)]
struct Calls {
    request: Function,
    delay: Function,
    response: Function,
}

impl WrkScript {
    /// Runs the file in a state for each thread beside the one of `setup` and `done`, and calls `setup` and `init` as wrk does.
    /// Nothing is sent but what the script itself sends.
    ///
    /// # Errors
    /// If the script ends in an error, or its first request is none.
    pub(crate) fn start(control: State, file: &ScriptFile, facts: &Facts) -> Result<Self, ScriptError> {
        let threads = (0..facts.threads.max(1)).map(|_| ThreadScript::start(file, facts, &control));
        let mut threads = threads.collect::<Result<Vec<_>, _>>()?;
        let first = threads[0].clone();
        // As with wrk the first request of the first thread is looked at, and not sent.
        let mut bytes = Vec::new();
        first.request(&mut bytes)?;
        let lengths = message::lengths(&bytes).map_err(|error| first.state.problem(Some("request"), error))?;
        let depth = first.together(&lengths)?;
        for thread in &mut threads {
            thread.settle()?;
        }
        let delays = first.state.defines("delay");
        let wants_response = first.state.defines("response");
        Ok(Self { control, threads, depth, delays, wants_response, method: facts.method.clone() })
    }

    /// Returns the name of the script's file.
    pub fn name(&self) -> &str {
        &self.control.script
    }

    /// Returns the script of a thread.
    pub fn thread(&self, number: usize) -> &ThreadScript {
        &self.threads[number % self.threads.len()]
    }

    /// Returns the only request of all threads, if nothing of the script runs during the load.
    pub fn constant(&self) -> Option<&[u8]> {
        let first = self.threads[0].constant.as_deref()?;
        let is_same = |thread: &ThreadScript| thread.constant.as_deref() == Some(first);
        let is_alone = !self.delays && !self.wants_response && self.depth == 1;
        (is_alone && self.threads.iter().all(is_same)).then_some(first)
    }

    /// Calls `done`, if the script defines it.
    ///
    /// # Errors
    /// If the script ends in an error.
    pub fn done(&self, outcome: Outcome) -> Result<(), ScriptError> {
        if !self.control.defines("done") {
            return Ok(());
        }
        let arguments =
            outcome.arguments(&self.control.lua).map_err(|error| self.control.error(Some("done"), &error))?;
        self.control.call("done", arguments)
    }
}

impl ThreadScript {
    fn start(file: &ScriptFile, facts: &Facts, setup: &State) -> Result<Self, ScriptError> {
        let state = State::load(file, facts)?;
        let control = Arc::new(ThreadControl::new(facts.addresses.first().copied()));
        let handle = || ScriptThread { state: state.lua.weak(), control: Arc::clone(&control) };
        setup.call::<()>("setup", handle())?;
        let prepared = || {
            state.lua.globals().get::<mlua::Table>("wrk")?.set("thread", handle())?;
            facts.init_arguments(&state.lua)
        };
        let arguments = prepared().map_err(|error| state.error(Some("init"), &error))?;
        state.call::<()>("init", arguments)?;
        let function = |name| state.function(name);
        let calls = Calls { request: function("request")?, delay: function("delay")?, response: function("response")? };
        Ok(Self { state, control, calls, constant: None })
    }

    /// Makes the only request of a script that does not define `request`, once.
    fn settle(&mut self) -> Result<(), ScriptError> {
        if !self.state.defines("request") {
            let mut bytes = Vec::new();
            self.request(&mut bytes)?;
            self.constant = Some(bytes.into());
        }
        Ok(())
    }

    /// Appends what the script sends next.
    ///
    /// # Errors
    /// If the script ends in an error.
    #[inline]
    pub fn request(&self, out: &mut Vec<u8>) -> Result<(), ScriptError> {
        if let Some(constant) = &self.constant {
            out.extend_from_slice(constant);
            return Ok(());
        }
        let text: LuaString = self.calls.request.call(()).map_err(|error| self.state.error(Some("request"), &error))?;
        out.extend_from_slice(&text.as_bytes());
        Ok(())
    }

    /// Returns the number of the requests that `request()` has returned, by their lengths.
    ///
    /// # Errors
    /// If there are too many to be in flight together.
    fn together(&self, lengths: &[usize]) -> Result<u16, ScriptError> {
        u16::try_from(lengths.len()).map_err(|_| {
            let (found, most) = (count(lengths.len() as u64), count(u16::MAX.into()));
            self.state.problem(Some("request"), format!("it must return at most {most} requests, found {found}"))
        })
    }

    /// Returns the pause before the next request.
    ///
    /// # Errors
    /// If the script ends in an error.
    pub fn delay(&self) -> Result<Duration, ScriptError> {
        let ms: f64 = self.calls.delay.call(()).map_err(|error| self.state.error(Some("delay"), &error))?;
        // wrk waits whole milliseconds.
        Ok(Duration::from_millis(ms.clamp(0.0, LONGEST_DELAY_MS) as u64))
    }

    /// Hands a response to the script. `of_http2`: its field names are in lower case, and scripts find them in any.
    ///
    /// # Errors
    /// If the script ends in an error.
    pub fn response<'r>(
        &self,
        status: u16,
        fields: impl Iterator<Item = (&'r str, &'r [u8])>,
        content: &[u8],
        of_http2: bool,
    ) -> Result<(), ScriptError> {
        let respond = || {
            let headers = self.state.lua.create_table()?;
            for (name, value) in fields {
                headers.raw_set(name, self.state.lua.create_string(value)?)?;
            }
            self.calls.response.call::<()>((status, headers, self.state.lua.create_string(content)?, of_http2))
        };
        respond().map_err(|error| self.state.error(Some("response"), &error))
    }

    /// Returns the address that the thread connects to, where the script chose another than the first.
    pub fn address(&self) -> Option<SocketAddr> {
        self.control.address()
    }

    /// Whether the script has stopped the thread.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.control.is_stopped()
    }

    /// Passes on what the script printed.
    pub fn flush(&self) {
        self.state.flush();
    }
}
