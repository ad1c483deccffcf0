//! Calls of gRPC: what describes the service, and what a call has beside messages.

use crate::field::{file, parsed, switch, texts};
use crate::setting::{Fleet, Kind, Part, Reads, Setting, Times, setting};
use crate::values::{deadline, grpc_encoding};

const ENTRY: &str = "a hurl file has requests of HTTP";
const SCRIPT: &str = "a script has requests of HTTP";

pub const ROWS: &[Setting] = &[
    grpc("proto", Kind::Path("FILE"), texts!(grpc.proto))
        .times(Times::Many)
        .help("Describe the service of a grpc:// URL by this .proto file; can be repeated")
        .reads(Reads::File)
        .excludes(&["protoset", "reflection"]),
    grpc("proto-path", Kind::Path("DIR"), texts!(grpc.proto_path))
        .times(Times::Many)
        .help("Find what .proto files import in this directory [default: that of each --proto, and the current one]; can be repeated")
        .needs(&[&["proto"]]),
    grpc("protoset", Kind::Path("FILE"), file!(grpc.protoset))
        .help("Describe the service by this descriptor set, as protoc writes it with all imports")
        .reads(Reads::File)
        .excludes(&["reflection"]),
    grpc("reflection", Kind::Switch, switch!(grpc.reflection))
        .help("Request the description of the service from the server (gRPC server reflection)")
        .fleet(Fleet::OneMachine),
    grpc("deadline", Kind::Number("DURATION"), parsed!(grpc.deadline, deadline))
        .help(
            "Announce this deadline of each call to the server (grpc-timeout) [default: the value of --timeout; none for a method that \
             returns a stream]",
        ),
    grpc("grpc-encoding", Kind::Choice("CODING", &["identity", "gzip"]), parsed!(grpc.encoding, grpc_encoding))
        .help("Send the messages of calls in this coding, and accept responses in it"),
];

/// Returns a setting that only `grpc://` URLs have.
const fn grpc(name: &'static str, kind: Kind, field: crate::field::Field) -> Setting {
    setting(Part::Grpc, name, kind, field).not_for_sessions(ENTRY).not_for_scripts(SCRIPT)
}
