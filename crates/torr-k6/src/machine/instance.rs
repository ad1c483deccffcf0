//! The script engine of a virtual user: its runtime, its globals, the exported functions, and how tasks run in it.

use super::heap::Heap;
use super::thrown::{place_of, script_error, thrown};
use crate::api::bytes;
use crate::api::console::{ConsoleSink, Level as ConsoleLevel};
use crate::api::globals::Globals;
use crate::api::timers;
use crate::error::{ErrorKind, ScriptError};
use crate::host::named_error;
use crate::log::Level;
use crate::modules::{self, Program};
use crate::shared::RunShared;
use crate::user::fiber::SCRIPT_STACK;
use crate::user::{Exports, Files, IterationTask, Phase, Task, TaskEnd, Vu, Wanted, interrupt, wait};
use rquickjs::context::intrinsic::{Date, Eval, Json, MapSet, Promise, Proxy, RegExp, TypedArrays, WeakRef};
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Error, Exception, Function, IntoJs, Object, Persistent, Runtime, Value, qjs};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// The memory in bytes that the script of one virtual user may take.
const MOST_MEMORY: usize = 1 << 30;

/// What of the language scripts find. The rest of what QuickJS has is not there in k6.
type Intrinsics = (Date, Eval, RegExp, Json, Proxy, MapSet, TypedArrays, Promise, WeakRef);

/// The global variable that has the number of the iteration.
const NUMBER: &str = "__ITER";

/// The script engine of a virtual user. What refers to values of the engine comes before the engine, so that it is dropped before.
pub(super) struct Instance {
    vu: Rc<Vu>,
    program: Arc<Program>,
    namespace: RefCell<Option<Persistent<Object<'static>>>>,
    functions: RefCell<Vec<(Rc<str>, Persistent<Function<'static>>)>>,
    data: RefCell<Option<Persistent<Value<'static>>>>,
    /// The name of the variable that has the number of the iteration, once it is known.
    number: Cell<qjs::JSAtom>,
    /// The number of the scenario whose environment the script sees.
    scenario: Cell<Option<usize>>,
    /// Whether that has variables of its own.
    has_own_env: Cell<bool>,
    context: Context,
    runtime: Runtime,
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.vu.events.clear();
    }
}

impl Instance {
    /// Returns the engine of a user. Its modules are not loaded yet.
    pub fn new(vu: Rc<Vu>, program: Arc<Program>) -> Result<Self, ScriptError> {
        let failed =
            |error: Error| ScriptError::new(ErrorKind::Other, format!("cannot start a script engine: {error}"));
        let runtime = Runtime::new_with_alloc(Heap::of_thread()).map_err(failed)?;
        runtime.set_memory_limit(MOST_MEMORY);
        runtime.set_max_stack_size(SCRIPT_STACK);
        runtime.set_interrupt_handler(Some(vu.interrupts.handler()));
        let weak = Rc::downgrade(&vu);
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, is_handled| {
            if let Some(vu) = weak.upgrade() {
                vu.events.note_rejection(&ctx, promise, reason, is_handled);
            }
        })));
        modules::set_loader(&runtime, &program);
        let context = Context::custom::<Intrinsics>(&runtime).map_err(failed)?;
        let functions = RefCell::default();
        Ok(Self {
            vu,
            program,
            namespace: RefCell::default(),
            functions,
            data: RefCell::default(),
            number: Cell::new(qjs::JS_ATOM_NULL),
            scenario: Cell::new(None),
            has_own_env: Cell::new(false),
            context,
            runtime,
        })
    }

    /// Returns the addresses of the engine's own state: of the runtime, the context, and what the wrapper of QuickJS keeps with them.
    pub fn addresses(&self) -> [usize; 3] {
        self.context.with(|ctx| {
            let context = ctx.as_raw().as_ptr();
            // SAFETY: the context is alive, and so is its runtime.
            let (runtime, wrapper) = unsafe {
                let runtime = qjs::JS_GetRuntime(context);
                (runtime, qjs::JS_GetRuntimeOpaque(runtime))
            };
            [runtime.addr(), context.addr(), wrapper.addr()]
        })
    }

    /// Runs a task.
    pub fn run(&self, task: Task) -> TaskEnd {
        let mut end = self.context.with(|ctx| {
            // SAFETY: the context is alive, and so is its runtime. Its limit counts from this place on the user's own stack.
            unsafe { qjs::JS_UpdateStackTop(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) };
            let result = match task {
                Task::Init => self.init(&ctx).map(TaskEnd::Loaded),
                Task::Setup => self.setup(&ctx).map(TaskEnd::Returned),
                Task::Iteration(iteration) => self.iterate(&ctx, &iteration).map(|()| TaskEnd::Returned(None)),
                Task::Teardown => self.teardown(&ctx).map(|()| TaskEnd::Returned(None)),
                Task::Summary(data) => self.summary(&ctx, &data).map(TaskEnd::Files),
            };
            match result {
                Ok(_) | Err(_) if self.vu.interrupts.is_set() => {
                    drop(ctx.catch());
                    TaskEnd::Interrupted
                }
                Ok(end) => end,
                Err(error) => {
                    let mut error = script_error(&ctx, &error);
                    error.stack = self.program.source_stack(&error.stack);
                    error.place = place_of(&error.stack);
                    TaskEnd::Threw(Box::new(error))
                }
            }
        });
        self.vu.events.clear();
        // Counting visits each object, so that it is done for the first pass only.
        if let TaskEnd::Loaded(exports) = &mut end
            && self.vu.id == 0
        {
            exports.memory = u64::try_from(self.runtime.memory_usage().malloc_size).unwrap_or(0);
        }
        end
    }

    /// Runs the top level of all modules.
    fn init(&self, ctx: &Ctx<'_>) -> rquickjs::Result<Exports> {
        self.vu.attach(ctx);
        self.vu.phase.set(Phase::Init);
        let console: Arc<dyn ConsoleSink> = Arc::new(Lines(self.vu.run.clone()));
        let globals = Globals {
            env: &self.vu.run.env,
            vu: self.vu.id,
            console: &console,
            program: &self.program,
            arrays: &self.vu.run.arrays,
        };
        globals.install(ctx)?;
        timers::install(ctx)?;
        let loaded = modules::import_main(ctx, &self.program)?;
        let endless =
            || Exception::throw_message(ctx, "the top level of the script awaits a promise that never settles");
        let namespace = self.settle(ctx, loaded.into_value())?.into_object().ok_or_else(endless)?;
        let namespace = modules::exports(ctx, &self.program, namespace)?;
        modules::leave_init(ctx);
        let mut exports = Exports::default();
        for name in namespace.keys::<String>() {
            let name = name?;
            let value: Value<'_> = namespace.get(name.as_str())?;
            if name == "options" && !value.is_function() {
                exports.options = ctx.json_stringify(value)?.map(|json| json.to_string()).transpose()?;
            } else if value.is_function() {
                exports.functions.push(name);
            } else if !value.is_undefined() {
                exports.values.push(name);
            }
        }
        self.write_options(ctx, &namespace)?;
        *self.namespace.borrow_mut() = Some(Persistent::save(ctx, namespace));
        Ok(exports)
    }

    /// Overwrites the exported options with those of the run, once they are known.
    fn write_options<'js>(&self, ctx: &Ctx<'js>, namespace: &Object<'js>) -> rquickjs::Result<()> {
        let Some(all) = self.vu.run.options.get() else { return Ok(()) };
        let exported: Value<'js> = namespace.get("options")?;
        let Some(exported) = exported.as_object() else { return Ok(()) };
        let json = serde_json::Value::Object(all.options.set_fields()).to_string();
        let Some(known) = ctx.json_parse(json)?.into_object() else { return Ok(()) };
        for property in known.props::<String, Value<'js>>() {
            let (name, value) = property?;
            // A script may have frozen its options.
            if exported.set(name, value).is_err() {
                drop(ctx.catch());
            }
        }
        Ok(())
    }

    /// Calls `setup`, and returns its data in JSON.
    fn setup(&self, ctx: &Ctx<'_>) -> rquickjs::Result<Option<String>> {
        self.vu.phase.set(Phase::Setup);
        let Some(function) = self.function(ctx, "setup")? else { return Ok(None) };
        let returned = function.call::<_, Value<'_>>(())?;
        let data = self.settle(ctx, returned)?;
        if data.is_undefined() {
            return Ok(None);
        }
        let json = ctx.json_stringify_replacer(data, Function::new(ctx.clone(), exported)?)?;
        json.map(|json| json.to_string()).transpose()
    }

    /// Calls the function of a scenario.
    fn iterate(&self, ctx: &Ctx<'_>, iteration: &IterationTask) -> rquickjs::Result<()> {
        let name = &iteration.function;
        self.vu.phase.set(Phase::Iteration);
        self.set_number(ctx, iteration.number)?;
        if self.scenario.replace(Some(iteration.scenario)) != Some(iteration.scenario) {
            self.set_env(ctx, iteration.scenario)?;
        }
        let known = self.functions.borrow().iter().find(|(other, _)| other == name).map(|(_, found)| found.clone());
        let function = match known {
            Some(function) => function.restore(ctx)?,
            None => {
                let missing = || Exception::throw_message(ctx, &format!("function '{name}' not found in exports"));
                let function = self.function(ctx, name)?.ok_or_else(missing)?;
                self.functions.borrow_mut().push((name.clone(), Persistent::save(ctx, function.clone())));
                function
            }
        };
        let data = self.data(ctx)?;
        let returned = function.call::<_, Value<'_>>((data,))?;
        self.settle(ctx, returned).map(drop)
    }

    /// Sets the number of the iteration that scripts see. Its name is looked up once: each iteration of each user would look for it in
    /// memory that the CPU has not at hand.
    fn set_number(&self, ctx: &Ctx<'_>, number: u64) -> rquickjs::Result<()> {
        let raw = ctx.as_raw().as_ptr();
        let number = number.into_js(ctx)?;
        // SAFETY: the context is alive. The atom belongs to its runtime, which frees it at its end with all others. The global object is
        // owned here until it is freed. A number has no owner.
        let is_set = unsafe {
            if self.number.get() == qjs::JS_ATOM_NULL {
                self.number.set(qjs::JS_NewAtomLen(raw, NUMBER.as_ptr().cast(), NUMBER.len() as _));
            }
            let global = qjs::JS_GetGlobalObject(raw);
            let is_set = qjs::JS_SetProperty(raw, global, self.number.get(), number.as_raw());
            qjs::JS_FreeValue(raw, global);
            is_set
        };
        if is_set < 0 { Err(Error::Exception) } else { Ok(()) }
    }

    /// Makes the environment of a scenario: that of the run with the scenario's own variables.
    fn set_env(&self, ctx: &Ctx<'_>, scenario: usize) -> rquickjs::Result<()> {
        let scenario = self.vu.run.options.get().and_then(|all| all.scenarios.get(scenario));
        let own = scenario.map(|scenario| &scenario.env).filter(|env| !env.is_empty());
        if own.is_none() && !self.has_own_env.get() {
            return Ok(());
        }
        self.has_own_env.set(own.is_some());
        let env = Object::new(ctx.clone())?;
        for (name, value) in self.vu.run.env.iter().chain(own.into_iter().flatten()) {
            env.set(name.as_str(), value.as_str())?;
        }
        ctx.globals().set("__ENV", env)
    }

    /// Calls `teardown`.
    fn teardown(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        self.vu.phase.set(Phase::Teardown);
        let Some(function) = self.function(ctx, "teardown")? else { return Ok(()) };
        let data = self.data(ctx)?;
        let returned = function.call::<_, Value<'_>>((data,))?;
        self.settle(ctx, returned).map(drop)
    }

    /// Calls `handleSummary`, and returns the files that it wants to be written.
    fn summary(&self, ctx: &Ctx<'_>, data: &str) -> rquickjs::Result<Option<Files>> {
        self.vu.phase.set(Phase::Summary);
        let Some(function) = self.function(ctx, "handleSummary")? else { return Ok(None) };
        let data = ctx.json_parse(data)?;
        let returned = function.call::<_, Value<'_>>((data,))?;
        let returned = self.settle(ctx, returned)?;
        let Some(object) = returned.as_object() else { return Ok(None) };
        let mut files = Vec::new();
        for property in object.props::<String, Value<'_>>() {
            let (name, value) = property?;
            match bytes::of(&value)? {
                Some(content) => files.push((name, content)),
                // The other files are written all the same.
                None => {
                    let why = format!("handleSummary must return strings or ArrayBuffers, but '{name}' is neither");
                    self.vu.run.log.write(Level::Error, &why, &[]);
                }
            }
        }
        Ok(Some(files))
    }

    /// Returns an exported function.
    fn function<'js>(&self, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Option<Function<'js>>> {
        let namespace = self.namespace.borrow().clone();
        let Some(namespace) = namespace else { return Ok(None) };
        let value: Value<'js> = namespace.restore(ctx)?.get(name)?;
        Ok(value.into_function())
    }

    /// Returns the data of `setup`, the same object each time.
    fn data<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
        if let Some(data) = self.data.borrow().as_ref() {
            return data.clone().restore(ctx);
        }
        let json = self.vu.run.setup_data.get().cloned().flatten();
        let data = match json {
            Some(json) => ctx.json_parse(&*json)?,
            None => Value::new_undefined(ctx.clone()),
        };
        *self.data.borrow_mut() = Some(Persistent::save(ctx, data.clone()));
        Ok(data)
    }

    /// Runs the event loop until nothing is pending, and returns what a promise was resolved with, or the value itself.
    fn settle<'js>(&self, ctx: &Ctx<'js>, returned: Value<'js>) -> rquickjs::Result<Value<'js>> {
        let promise = returned.as_promise().cloned();
        let events = &self.vu.events;
        if promise.is_none() && events.are_idle() && !ctx_has_jobs(ctx) {
            return Ok(returned);
        }
        loop {
            while !self.vu.interrupts.is_set() && ctx.execute_pending_job() {}
            if self.vu.interrupts.is_set() {
                return Err(interrupt::throw(ctx));
            }
            if let Some(promise) = promise.as_ref().filter(|promise| promise.state() == PromiseState::Rejected) {
                return promise.result::<Value<'js>>().unwrap_or(Err(Error::WouldBlock));
            }
            let rejected = std::mem::take(&mut *events.rejected.borrow_mut());
            if let Some((_, reason)) = rejected.into_iter().next() {
                let ScriptError { message, stack, .. } = thrown(&reason.restore(ctx)?);
                let text = format!("Uncaught (in promise) {message}\n{stack}");
                return Err(named_error(ctx, "", text.trim_end()));
            }
            if events.settle(ctx)? || events.call_due(ctx)? || events.sockets.deliver_next(ctx)? {
                continue;
            }
            if !events.are_pending() {
                break;
            }
            wait(ctx, Wanted::Event(events.next_timer()))?;
        }
        match promise {
            Some(promise) => promise.result().unwrap_or_else(|| Ok(Value::new_undefined(ctx.clone()))),
            None => Ok(returned),
        }
    }
}

/// Returns what becomes of a value within the data of `setup`, beyond what JSON makes of it: k6 has `null` for what is undefined, and an
/// array for a set or a map.
fn exported<'js>(ctx: Ctx<'js>, _key: Value<'js>, value: Value<'js>) -> rquickjs::Result<Value<'js>> {
    if value.is_undefined() {
        return Ok(Value::new_null(ctx));
    }
    let Some(object) = value.as_object().filter(|_| !value.is_array()) else { return Ok(value) };
    for class in ["Set", "Map"] {
        if object.is_instance_of(ctx.globals().get::<_, Value<'js>>(class)?) {
            let array: Object<'js> = ctx.globals().get("Array")?;
            return array.get::<_, Function<'js>>("from")?.call((value.clone(),));
        }
    }
    Ok(value)
}

/// Whether promises have reactions that wait to be called.
fn ctx_has_jobs(ctx: &Ctx<'_>) -> bool {
    // SAFETY: the context is alive, and so is its runtime.
    unsafe { qjs::JS_IsJobPending(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) }
}

/// The lines that a script writes to its console, as lines of the run's log.
struct Lines(Arc<RunShared>);

impl ConsoleSink for Lines {
    fn write(&self, level: ConsoleLevel, text: &str) {
        let level = match level {
            ConsoleLevel::Debug => Level::Debug,
            ConsoleLevel::Info => Level::Info,
            ConsoleLevel::Warn => Level::Warning,
            ConsoleLevel::Error => Level::Error,
        };
        self.0.log.console(level, text);
    }
}
