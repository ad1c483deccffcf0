//! A client and a server that talk to each other in memory.

use torr_net::tls::{NegotiatedTls, TlsAcceptor, TlsClient, TlsError, TlsServer, TlsSettings};

/// A connection's two ends, and what is under way between them.
pub struct Pair {
    pub client: TlsClient,
    pub server: TlsServer,
    pub to_server: Vec<u8>,
    pub to_client: Vec<u8>,
    /// What has arrived in plain.
    pub at_server: Vec<u8>,
    pub at_client: Vec<u8>,
}

impl Pair {
    /// The client has said its first words.
    pub fn begin(mut client: TlsClient, acceptor: &TlsAcceptor) -> Self {
        let mut to_server = Vec::new();
        client.open(&mut to_server).expect("a connection can be opened");
        let server = acceptor.accept().expect("a connection can be accepted");
        Self { client, server, to_server, to_client: vec![], at_server: vec![], at_client: vec![] }
    }

    /// The handshake is done.
    pub fn secured(client: TlsClient, acceptor: &TlsAcceptor) -> Self {
        let mut pair = Self::begin(client, acceptor);
        pair.run().expect("both sides agree");
        assert!(!pair.client.is_handshaking() && !pair.server.is_handshaking());
        pair
    }

    /// Carries over all that is said, until both are silent.
    pub fn run(&mut self) -> Result<(), TlsError> {
        self.run_by(usize::MAX)
    }

    /// The same in pieces of so many bytes.
    pub fn run_by(&mut self, most: usize) -> Result<(), TlsError> {
        while !self.to_server.is_empty() || !self.to_client.is_empty() {
            for piece in std::mem::take(&mut self.to_server).chunks_mut(most) {
                self.server.receive(piece, &mut self.to_client, &mut self.at_server)?;
            }
            for piece in std::mem::take(&mut self.to_client).chunks_mut(most) {
                self.client.receive(piece, &mut self.to_server, &mut self.at_client)?;
            }
        }
        Ok(())
    }

    /// One message each way.
    pub fn exchange(&mut self) {
        (self.at_server, self.at_client) = (vec![], vec![]);
        self.client.send(b"question", &mut self.to_server).expect("it can be sent");
        self.server.send(b"answer", &mut self.to_client).expect("it can be sent");
        self.run().expect("both understand");
        assert_eq!((&self.at_server[..], &self.at_client[..]), (&b"question"[..], &b"answer"[..]));
    }

    pub fn is_resumed(&self) -> bool {
        // The kind of the peer's key each side knows for itself.
        let without_key =
            |secured: Option<NegotiatedTls>| secured.map(|secured| NegotiatedTls { key: None, ..secured });
        let (client, server) = (without_key(self.client.negotiated()), without_key(self.server.negotiated()));
        assert_eq!(client, server, "both sides say the same");
        server.expect("the handshake is done").resumed
    }
}

/// A client of settings that are right.
pub fn client(settings: &TlsSettings) -> TlsClient {
    settings.load().expect("the settings are right").client()
}
