//! The content of a request, from what a script gives.

use super::coding;
use super::params::ParamError;
use super::value::is_nothing;
use super::{file, form};
use crate::api::bytes;
use brotli::CompressorWriter;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use rquickjs::{Object, Value};
use ruzstd::encoding::CompressionLevel;
use std::io::Write;

/// The size of brotli's buffer in bytes, its quality from 0 to 11, and the binary logarithm of its window: the quality is k6's.
const BROTLI_BUFFER: usize = 4096;
const BROTLI_QUALITY: u32 = 6;
const BROTLI_WINDOW: u32 = 22;

/// The content of a request, and the type that it has by itself.
#[derive(Debug, Default)]
pub struct Body {
    /// The bytes; `None` without content.
    pub bytes: Option<Vec<u8>>,
    /// The bytes before content codings were applied, if there are any.
    pub plain: Option<Vec<u8>>,
    /// The type, if the kind of the value tells it.
    pub content_type: Option<String>,
}

impl Body {
    /// Reads the content that a script gives.
    ///
    /// # Errors
    /// If a value of this kind cannot be sent.
    pub fn read(value: Option<&Value<'_>>) -> Result<Self, ParamError> {
        let Some(value) = value.filter(|value| !is_nothing(value)) else { return Ok(Self::default()) };
        if let Some(bytes) = bytes::of(value)? {
            return Ok(Self { bytes: Some(bytes), ..Self::default() });
        }
        let unknown = |kind: &str| Err(ParamError::Wrong(format!("unknown request body type {kind}")));
        if value.is_array() {
            return unknown("[]interface {}");
        }
        if value.is_int() {
            return unknown("int64");
        }
        if value.is_number() {
            return unknown("float64");
        }
        if value.is_bool() {
            return unknown("bool");
        }
        let Some(object) = value.as_object().filter(|_| !value.is_function()) else { return unknown("function") };
        if is_date(object)? {
            return unknown("time.Time");
        }
        if let Some((bytes, content_type)) = file::multipart(object)? {
            return Ok(Self { bytes: Some(bytes), content_type: Some(content_type), plain: None });
        }
        let bytes = form::encode(object)?.into_bytes();
        let content_type = Some("application/x-www-form-urlencoded".to_owned());
        Ok(Self { bytes: Some(bytes), content_type, plain: None })
    }

    /// Applies content codings, the first one first.
    ///
    /// # Errors
    /// If one is not known to [`coding::is_known`].
    pub fn compress(&mut self, codings: &[String]) -> Result<(), ParamError> {
        let Some(mut bytes) = self.bytes.take() else { return Ok(()) };
        self.plain = (!codings.is_empty()).then(|| bytes.clone());
        for coding in codings {
            bytes = coded(coding, &bytes)?;
        }
        self.bytes = Some(bytes);
        Ok(())
    }
}

/// Applies a content coding. The tables of some take more than 100 KiB of the stack, which no other call of a user is to take: all of
/// that would be the user's memory for good.
#[cold]
#[inline(never)]
fn coded(coding: &str, bytes: &[u8]) -> Result<Vec<u8>, ParamError> {
    // Writing into memory does not fail.
    let coded = match coding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).and_then(|()| encoder.finish())
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).and_then(|()| encoder.finish())
        }
        "br" => {
            let mut encoder = CompressorWriter::new(Vec::new(), BROTLI_BUFFER, BROTLI_QUALITY, BROTLI_WINDOW);
            encoder.write_all(bytes).map(|()| encoder.into_inner())
        }
        "zstd" => Ok(ruzstd::encoding::compress_to_vec(bytes, CompressionLevel::Fastest)),
        other => return Err(coding::unknown(other).into()),
    };
    coded.map_err(|error| ParamError::Wrong(format!("cannot compress the body: {error}")))
}

/// Returns whether a date is what a script gives.
fn is_date(object: &Object<'_>) -> Result<bool, ParamError> {
    let class: Value<'_> = object.ctx().globals().get("Date")?;
    Ok(object.is_instance_of(class))
}
