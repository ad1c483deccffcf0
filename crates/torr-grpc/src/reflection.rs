//! Server reflection: how a server describes its services (`grpc.reflection.v1` and `v1alpha`, whose messages are the same).
//!
//! A [`Reflection`] says what to request next and reads what a server responds; who sends that is elsewhere.

use crate::error::GrpcError;
use crate::framing::{self, Coding};
use crate::schema::{Schema, parts};
use prost::Message;
use prost_reflect::DescriptorPool;
use prost_reflect::prost_types::FileDescriptorProto;
use std::collections::{BTreeMap, BTreeSet};

/// The paths of the method, of which a server may have either: that of the standard first.
pub const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// The largest size of a decompressed response, in bytes.
const MOST: usize = 16 * 1024 * 1024;
/// The most files that a server may describe.
const MOST_FILES: usize = 1000;

/// `grpc.reflection.v1.ServerReflectionRequest`, as far as it is used.
#[derive(Clone, PartialEq, Message)]
struct ReflectionRequest {
    #[prost(string, optional, tag = "3")]
    file_by_filename: Option<String>,
    #[prost(string, optional, tag = "4")]
    file_containing_symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    list_services: Option<String>,
}

/// `grpc.reflection.v1.ServerReflectionResponse`, as far as it is used.
#[derive(Clone, PartialEq, Message)]
struct ReflectionResponse {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<ReflectionFault>,
}

/// `grpc.reflection.v1.FileDescriptorResponse`.
#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

/// `grpc.reflection.v1.ListServiceResponse`.
#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<ServiceName>,
}

/// `grpc.reflection.v1.ServiceResponse`.
#[derive(Clone, PartialEq, Message)]
struct ServiceName {
    #[prost(string, tag = "1")]
    name: String,
}

/// `grpc.reflection.v1.ErrorResponse`.
#[derive(Clone, PartialEq, Message)]
struct ReflectionFault {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// What a server has described of its services so far.
#[derive(Debug, Clone)]
pub struct Reflection {
    /// Whether the names of all services are still to be requested.
    lists: bool,
    /// The services whose files are still to be requested.
    services: BTreeSet<String>,
    /// The files by their names.
    files: BTreeMap<String, FileDescriptorProto>,
    /// The files that were requested by their names.
    requested: BTreeSet<String>,
}

impl Reflection {
    /// Begins the description of the service in the path of a URL.
    ///
    /// # Errors
    /// [`GrpcError::Path`].
    pub fn of(path: &str) -> Result<Self, GrpcError> {
        let services = [parts(path)?.0.to_owned()].into();
        Ok(Self { lists: false, services, files: BTreeMap::new(), requested: BTreeSet::new() })
    }

    /// Begins the description of all services that the server lists.
    #[must_use]
    pub fn of_all() -> Self {
        Self { lists: true, services: BTreeSet::new(), files: BTreeMap::new(), requested: BTreeSet::new() }
    }

    /// Returns the content of the next request; `None` once all files are there.
    pub fn next_request(&mut self) -> Option<Vec<u8>> {
        self.next_message().map(|message| framing::framed(&message))
    }

    /// Returns the message of the next request, without a prefix; `None` once all files are there.
    pub fn next_message(&mut self) -> Option<Vec<u8>> {
        let mut request = ReflectionRequest::default();
        if std::mem::take(&mut self.lists) {
            request.list_services = Some("*".to_owned());
        } else if let Some(service) = self.next_service() {
            request.file_containing_symbol = Some(service);
        } else {
            let missing = self.missing()?;
            self.requested.insert(missing.clone());
            request.file_by_filename = Some(missing);
        }
        Some(request.encode_to_vec())
    }

    /// Takes the next service that no file describes.
    fn next_service(&mut self) -> Option<String> {
        while let Some(service) = self.services.pop_first() {
            if !self.files.values().any(|file| has(file, &service)) {
                return Some(service);
            }
        }
        None
    }

    /// Returns an import that no file has and that was not requested.
    fn missing(&self) -> Option<String> {
        let imports = self.files.values().flat_map(|file| &file.dependency);
        let is_missing = |name: &&String| !self.files.contains_key(*name) && !self.requested.contains(*name);
        imports.filter(is_missing).min().cloned()
    }

    /// Reads the content of a response.
    ///
    /// # Errors
    /// [`GrpcError::Framing`], [`GrpcError::Descriptors`] and [`GrpcError::Reflection`].
    pub fn take(&mut self, content: &[u8], coding: Option<Coding>) -> Result<(), GrpcError> {
        let wrong = |error: prost::DecodeError| GrpcError::Descriptors(error.to_string());
        for message in framing::split(content, coding, MOST)? {
            let response = ReflectionResponse::decode(&*message).map_err(wrong)?;
            if let Some(fault) = response.error {
                let line = fault.message.lines().next().unwrap_or_default().to_owned();
                return Err(GrpcError::Reflection(format!("{line} (code {})", fault.code)));
            }
            let listed = response.services.unwrap_or_default().services;
            self.services.extend(listed.into_iter().map(|service| service.name));
            if self.services.len() > MOST_FILES {
                return Err(GrpcError::Descriptors(format!("the server lists more than {MOST_FILES} services")));
            }
            for file in response.files.unwrap_or_default().files {
                let file = FileDescriptorProto::decode(&*file).map_err(wrong)?;
                self.files.insert(file.name().to_owned(), file);
            }
            if self.files.len() > MOST_FILES {
                return Err(GrpcError::Descriptors(format!("the server describes more than {MOST_FILES} files")));
            }
        }
        Ok(())
    }

    /// Returns the schema of all files.
    ///
    /// # Errors
    /// [`GrpcError::Descriptors`], if files are missing or wrong.
    pub fn schema(self) -> Result<Schema, GrpcError> {
        let mut pool = DescriptorPool::new();
        let added = pool.add_file_descriptor_protos(self.files.into_values());
        added.map(|()| Schema::of_pool(pool)).map_err(|error| GrpcError::Descriptors(error.to_string()))
    }
}

/// Returns whether a file describes a service.
fn has(file: &FileDescriptorProto, service: &str) -> bool {
    let name = service.strip_prefix(file.package()).map_or(service, |rest| rest.strip_prefix('.').unwrap_or(rest));
    file.service.iter().any(|known| known.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_reflect::prost_types::{MethodDescriptorProto, ServiceDescriptorProto};

    fn file(name: &str, imports: &[&str]) -> FileDescriptorProto {
        FileDescriptorProto {
            name: Some(name.to_owned()),
            dependency: imports.iter().map(|name| (*name).to_owned()).collect(),
            syntax: Some("proto3".to_owned()),
            ..FileDescriptorProto::default()
        }
    }

    fn response(files: &[FileDescriptorProto]) -> Vec<u8> {
        let files = files.iter().map(Message::encode_to_vec).collect();
        framed(&ReflectionResponse { files: Some(Files { files }), ..ReflectionResponse::default() })
    }

    fn framed(response: &ReflectionResponse) -> Vec<u8> {
        let mut content = Vec::new();
        framing::write(&response.encode_to_vec(), Coding::Identity, &mut content);
        content
    }

    #[test]
    fn files_are_requested_until_no_import_is_missing() {
        let mut shop = file("shop.proto", &["item.proto", "google/protobuf/empty.proto"]);
        shop.package = Some("shop".to_owned());
        shop.service = vec![ServiceDescriptorProto {
            name: Some("Shop".to_owned()),
            method: vec![MethodDescriptorProto {
                name: Some("Get".to_owned()),
                input_type: Some(".google.protobuf.Empty".to_owned()),
                output_type: Some(".google.protobuf.Empty".to_owned()),
                ..MethodDescriptorProto::default()
            }],
            ..ServiceDescriptorProto::default()
        }];
        let empty = DescriptorPool::global().get_file_by_name("google/protobuf/empty.proto").expect("it is known");
        let mut reflection = Reflection::of("/shop.Shop/Get").expect("it is a path");
        let mut requests = 0;
        for files in [vec![shop], vec![empty.file_descriptor_proto().clone()], vec![file("item.proto", &[])]] {
            requests += usize::from(reflection.next_request().is_some());
            reflection.take(&response(&files), Some(Coding::Identity)).expect("it is a response");
        }
        assert_eq!((requests, reflection.next_request()), (3, None));
        let schema = reflection.schema().expect("all files are there");
        assert!(schema.method("/shop.Shop/Get").is_ok());
    }

    #[test]
    fn all_services_of_a_list_are_described() {
        let named = |name: &str, services: &[&str]| FileDescriptorProto {
            package: Some("shop".to_owned()),
            service: services
                .iter()
                .map(|name| ServiceDescriptorProto {
                    name: Some((*name).to_owned()),
                    ..ServiceDescriptorProto::default()
                })
                .collect(),
            ..file(name, &[])
        };
        let list = ["shop.A", "shop.B", "shop.C"].map(|name| ServiceName { name: name.to_owned() }).into();
        let list = framed(&ReflectionResponse { services: Some(Services { services: list }), ..Default::default() });
        let mut reflection = Reflection::of_all();
        let mut requests = Vec::new();
        let two = [named("ab.proto", &["A", "B"])];
        for content in [list, response(&two), response(&[named("c.proto", &["C"])])] {
            requests.push(reflection.next_request().expect("not all is there"));
            reflection.take(&content, Some(Coding::Identity)).expect("it is a response");
        }
        assert_eq!(requests[0], b"\0\0\0\0\x03\x3a\x01*");
        assert!(requests[1].ends_with(b"shop.A") && requests[2].ends_with(b"shop.C"), "one file has two services");
        assert_eq!(reflection.next_request(), None);
        let schema = reflection.schema().expect("all files are there");
        assert_eq!(schema.methods().count(), 0, "none has a method");
    }

    #[test]
    fn a_server_without_a_file_or_with_a_fault_has_one_line() {
        let mut reflection = Reflection::of("/shop.Shop/Get").expect("it is a path");
        assert!(reflection.next_request().is_some());
        let fault = ReflectionFault { code: 5, message: "no such symbol\nat all".to_owned() };
        let content = framed(&ReflectionResponse { error: Some(fault), ..ReflectionResponse::default() });
        let error = reflection.take(&content, Some(Coding::Identity)).expect_err("it is a fault");
        assert_eq!(error.to_string(), "the server's reflection reports: no such symbol (code 5)");
        reflection.take(&response(&[file("a.proto", &["b.proto"])]), Some(Coding::Identity)).expect("it is a file");
        assert!(reflection.next_request().is_some(), "the import is missing");
        reflection.take(&response(&[]), Some(Coding::Identity)).expect("it is a response");
        assert_eq!(reflection.next_request(), None, "nothing is requested twice");
        assert!(matches!(reflection.schema(), Err(GrpcError::Descriptors(_))));
    }
}
