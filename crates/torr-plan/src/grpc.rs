//! The plan of a load of a `grpc://` URL: calls of one method, over HTTP/2.

mod metadata;
mod proto;
mod reflection;
mod way;

use crate::error::PlanError;
use crate::input::Input;
use crate::permit::Permit;
use crate::{data, request};
use std::sync::Arc;
use torr_grpc::{Coding, Method, Schema};
use torr_load::{Http2Part, Load, RequestPart, TransportPart};
use torr_press::request::{Data, Encoder, Options};
use torr_press::{GrpcMethod, Plan, Target};
use way::{Way, encoded};

/// A plan of calls, and what they are made of.
#[derive(Debug)]
pub struct Call {
    /// The plan.
    pub plan: Plan,
    /// The options of the requests.
    pub options: Options,
    /// The method.
    pub method: Arc<Method>,
}

/// Returns the plan of the calls of a URL and of the way to the service, without the pace of the load.
///
/// # Errors
/// For a mistake of the load or in a file, if there is no way to the service, if the server does not describe the service, and those of
/// `permit`.
pub fn call(load: &Load, url: &str, permit: Permit<'_>) -> Result<Call, PlanError> {
    let target = Target::parse_grpc(url).map_err(PlanError::usage)?;
    let http2 = Http2Part { http2_prior_knowledge: true, ..load.transport.http2.clone() };
    let transport = TransportPart { http2, ..load.transport.clone() };
    let mut input = Input::of(&load.request.files);
    let text = messages(&load.request, &mut input)?;
    // Without pieces of a body, the options have none, and standard input is read once.
    let without_body = RequestPart { data: Vec::new(), json_body: Vec::new(), ..load.request.clone() };
    let options = request::options(load, &without_body, &target.host, &mut input)?;
    let coding = if load.grpc.is_gzip() { Coding::Gzip } else { Coding::Identity };
    let with_deadline = |deadline| {
        let headers = metadata::fields(&options.headers, deadline, coding)?;
        Ok::<_, PlanError>(Options { headers, ..options.clone() })
    };
    let (deadline, timeout) = (load.grpc.deadline.as_deref().copied(), load.pace.timeout());
    let of_one_message = with_deadline(deadline.or(Some(timeout)))?;
    let way = Way { load, transport: &transport, target: &target };
    let schema = schema(way, &of_one_message, &mut input, permit)?;
    let method = Arc::new(schema.method(target.path()).map_err(PlanError::usage)?);
    // A stream may be longer than the time until its first message.
    let options = if method.returns_stream() { with_deadline(deadline)? } else { of_one_message };
    let encoding = Arc::clone(&method);
    let encoder = Encoder::new(move |text| encoding.encode(text, coding).map_err(|error| error.to_string()));
    let options = Options { body: Some(encoded(text, encoder)), ..options };
    let grpc = GrpcMethod { returns_stream: method.returns_stream() };
    let plan = way.plan(target.clone(), &options, grpc)?;
    Ok(Call { plan, options, method })
}

/// Returns the text of a request's messages in JSON, one value after another.
fn messages(part: &RequestPart, input: &mut Input) -> Result<Vec<u8>, PlanError> {
    let mut texts = Vec::new();
    for piece in data::read(&part.data, input)? {
        match piece {
            Data::Plain(bytes) => texts.push(bytes),
            Data::Encoded { .. } => {
                return Err(PlanError::Usage("--data-urlencode is not supported for grpc:// URLs".into()));
            }
        }
    }
    for text in &part.json_body {
        texts.push(input.value(text, "the body")?);
    }
    Ok(texts.join(&b'\n'))
}

/// Returns the schema of the service.
fn schema(way: Way<'_>, options: &Options, input: &mut Input, permit: Permit<'_>) -> Result<Schema, PlanError> {
    let (load, part) = (way.load, &way.load.grpc);
    if !part.proto.is_empty() {
        return proto::schema(&part.proto, &part.proto_path, &load.request.files);
    }
    if let Some(path) = &part.protoset {
        let set = input.read(&path.to_string_lossy(), "the descriptor set")?;
        return Schema::decode(&set).map_err(|error| PlanError::Usage(format!("{}: {error}", path.display())));
    }
    if part.reflection {
        return reflection::schema(way, options, permit);
    }
    Err(PlanError::Usage("a grpc:// URL needs --proto FILE, --protoset FILE or --reflection".into()))
}
