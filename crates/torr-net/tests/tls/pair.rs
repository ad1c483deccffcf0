//! A client and a server that are connected in memory.

use torr_net::tls::{NegotiatedTls, TlsAcceptor, TlsClient, TlsError, TlsServer, TlsSettings};

/// The two ends of a connection, and the bytes in flight between them.
pub struct Pair {
    pub client: TlsClient,
    pub server: TlsServer,
    pub to_server: Vec<u8>,
    pub to_client: Vec<u8>,
    /// The plaintext received.
    pub at_server: Vec<u8>,
    pub at_client: Vec<u8>,
}

impl Pair {
    /// Creates a pair whose client has started the handshake.
    pub fn begin(mut client: TlsClient, acceptor: &TlsAcceptor) -> Self {
        let mut to_server = Vec::new();
        client.open(&mut to_server).expect("a connection can be opened");
        let server = acceptor.accept().expect("a connection can be accepted");
        Self { client, server, to_server, to_client: vec![], at_server: vec![], at_client: vec![] }
    }

    /// Creates a pair with a complete handshake.
    pub fn secured(client: TlsClient, acceptor: &TlsAcceptor) -> Self {
        let mut pair = Self::begin(client, acceptor);
        pair.run().expect("both sides agree");
        assert!(!pair.client.is_handshaking() && !pair.server.is_handshaking());
        pair
    }

    /// Transfers all bytes in flight until there are none.
    pub fn run(&mut self) -> Result<(), TlsError> {
        self.run_by(usize::MAX)
    }

    /// Transfers all bytes in flight, in pieces of this size.
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

    /// Sends one message each way.
    pub fn exchange(&mut self) {
        (self.at_server, self.at_client) = (vec![], vec![]);
        self.client.send(b"question", &mut self.to_server).expect("it can be sent");
        self.server.send(b"answer", &mut self.to_client).expect("it can be sent");
        self.run().expect("both understand");
        assert_eq!((&self.at_server[..], &self.at_client[..]), (&b"question"[..], &b"answer"[..]));
    }

    pub fn is_resumed(&self) -> bool {
        // The algorithm of the peer's key differs between the sides.
        let without_key =
            |secured: Option<NegotiatedTls>| secured.map(|secured| NegotiatedTls { key: None, ..secured });
        let (client, server) = (without_key(self.client.negotiated()), without_key(self.server.negotiated()));
        assert_eq!(client, server, "both sides say the same");
        server.expect("the handshake is done").resumed
    }
}

/// Creates a client of valid settings.
pub fn client(settings: &TlsSettings) -> TlsClient {
    settings.load().expect("the settings are right").client()
}
