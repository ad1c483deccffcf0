//! Decoders of the databases' protocols: state machines without sockets, fed with what each side sent.

mod catalogue;
mod cursor;
mod decoder;
mod event;
mod frame;
mod mysql;
mod postgres;
mod redis;
mod sink;
mod synchroniser;
#[cfg(test)]
mod tests;

pub(crate) use catalogue::Catalogue;
pub(crate) use decoder::Decoder;
pub(crate) use event::{Completed, Fault, StatementId};
pub(crate) use sink::Sink;
#[cfg(test)]
pub(in crate::statements) use tests::samples;
