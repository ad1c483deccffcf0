//! The built-in modules by name.

use super::builtin::Builtin;
use super::crypto::Crypto;
use super::data::Data;
use super::encoding::Encoding;
use super::execution::Execution;
use super::grpc::Grpc;
use super::html::Html;
use super::http::Http;
use super::k6::K6;
use super::loaded::{NativeModule, object};
use super::metrics::Metrics;
use super::sse::Sse;
use super::timers::Timers;
use super::url::UrlTools;
use super::webcrypto::WebCrypto;
use super::websockets::WebSockets;
use super::ws::Ws;
use rquickjs::module::Declared;
use rquickjs::{Ctx, Module, Object, Result};

/// All built-in modules. A room that has one adds a line here.
const BUILTINS: &[Entry] = &[
    // One a line.
    entry::<Crypto>(),
    entry::<Data>(),
    entry::<Encoding>(),
    entry::<Execution>(),
    entry::<Grpc>(),
    entry::<Html>(),
    entry::<Http>(),
    entry::<K6>(),
    entry::<Metrics>(),
    entry::<Sse>(),
    entry::<Timers>(),
    entry::<UrlTools>(),
    entry::<WebCrypto>(),
    entry::<WebSockets>(),
    entry::<Ws>(),
];

/// A built-in module among others.
struct Entry {
    names: &'static [&'static str],
    declare: for<'js> fn(&Ctx<'js>, &str) -> Result<Module<'js, Declared>>,
    object: for<'js> fn(&Ctx<'js>) -> Result<Object<'js>>,
}

const fn entry<B: Builtin>() -> Entry {
    Entry {
        names: B::NAMES,
        declare: |ctx, name| Module::declare_def::<NativeModule<B>, _>(ctx.clone(), name),
        object: object::<B>,
    }
}

fn find(name: &str) -> Option<&'static Entry> {
    BUILTINS.iter().find(|entry| entry.names.contains(&name))
}

/// Returns whether a module of this name is built in.
#[must_use]
pub fn has(name: &str) -> bool {
    find(name).is_some()
}

/// Declares the built-in module of this name; `None` if there is none.
pub fn declare<'js>(ctx: &Ctx<'js>, name: &str) -> Option<Result<Module<'js, Declared>>> {
    find(name).map(|entry| (entry.declare)(ctx, name))
}

/// Returns what `require` returns for the built-in module of this name; `None` if there is none.
pub fn require<'js>(ctx: &Ctx<'js>, name: &str) -> Option<Result<Object<'js>>> {
    find(name).map(|entry| (entry.object)(ctx))
}
