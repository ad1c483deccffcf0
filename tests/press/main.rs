//! The load side: what `torr` sends, reads, counts and reports of a target.

mod authentication;
mod bad_servers;
mod checks;
mod counts;
mod defects;
mod early_data;
mod framing;
mod grpc;
mod http2;
mod http2_server;
mod http3;
mod http3_peers;
mod http3_server;
mod http3_work;
mod load;
mod recording;
mod requests;
mod script_calls;
mod session_streams;
mod streams;
mod streams_limit;
mod tls;
mod transport;
mod uploads;
mod websocket;
