//! `k6/net/grpc`: calls of gRPC.

mod call;
mod client;
mod connect;
mod invoke;
mod load;
mod params;
mod records;
mod reflect;
mod response;
mod stream;

use super::builtin::{Builtin, of_source};
use crate::host::go_error;
use crate::log::Level;
use crate::user::Vu;
use rquickjs::function::Opt;
use rquickjs::{Ctx, Function, Object, Result};

/// The classes and the constants, as a function of the host's part.
const CLASSES: &str = include_str!("grpc/classes.js");

/// The module `k6/net/grpc`.
pub struct Grpc;

impl Builtin for Grpc {
    const NAMES: &'static [&'static str] = &["k6/net/grpc"];
    const EXPORTS: &'static [&'static str] = &[
        "Client",
        "Stream",
        "StatusOK",
        "StatusCanceled",
        "StatusUnknown",
        "StatusInvalidArgument",
        "StatusDeadlineExceeded",
        "StatusNotFound",
        "StatusAlreadyExists",
        "StatusPermissionDenied",
        "StatusResourceExhausted",
        "StatusFailedPrecondition",
        "StatusAborted",
        "StatusOutOfRange",
        "StatusUnimplemented",
        "StatusInternal",
        "StatusUnavailable",
        "StatusDataLoss",
        "StatusUnauthenticated",
        "HealthCheckUnknown",
        "HealthCheckServing",
        "HealthCheckNotServing",
        "HealthCheckServiceUnkown",
    ];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        of_source(ctx, CLASSES, host(ctx)?)
    }
}

/// Returns the host's part of the classes.
fn host<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;
    host.set("client", Function::new(ctx.clone(), connect::create)?)?;
    host.set("load", Function::new(ctx.clone(), load::load)?)?;
    host.set("loadProtoset", Function::new(ctx.clone(), load::load_protoset)?)?;
    host.set("connect", Function::new(ctx.clone(), connect::connect)?)?;
    host.set("close", Function::new(ctx.clone(), connect::close)?)?;
    host.set("invoke", Function::new(ctx.clone(), invoke::invoke)?)?;
    host.set("begin", Function::new(ctx.clone(), invoke::begin)?)?;
    host.set("healthCheck", Function::new(ctx.clone(), invoke::health_check)?)?;
    host.set("stream", Function::new(ctx.clone(), stream::open)?)?;
    host.set("write", Function::new(ctx.clone(), stream::write)?)?;
    host.set("end", Function::new(ctx.clone(), stream::end)?)?;
    host.set("drop", Function::new(ctx.clone(), stream::drop_stream)?)?;
    let fail = |ctx: Ctx<'js>, why: String| -> Result<()> { Err(go_error(&ctx, &why)) };
    host.set("fail", Function::new(ctx.clone(), fail)?)?;
    let warn = |ctx: Ctx<'js>, text: String, method: Opt<String>| {
        let method = method.0.map(|method| ("streamMethod", method));
        let fields: Vec<_> = method.iter().map(|(name, method)| (*name, method.as_str())).collect();
        Vu::of(&ctx).run.log.write(Level::Warning, &text, &fields);
    };
    host.set("warn", Function::new(ctx.clone(), warn)?)?;
    Ok(host)
}
