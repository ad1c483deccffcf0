//! One connection to a database: both directions in order, decoded and counted.

use super::database::Database;
use super::packet::Segment;
use super::stream::{Arrival, Stream};
use super::tally::Tallies;
use super::wire::{Catalogue, Completed, Decoder, Fault, Sink};

/// The times that decoding may begin again before a connection is given up.
const LOSSES: u32 = 1000;

/// A connection.
#[derive(Debug)]
pub(super) struct Conversation {
    client: Stream,
    server: Stream,
    decoder: Decoder,
    /// The counts since decoding began. They are dropped if a response shows that it did not match.
    tallies: Tallies,
    /// The counts up to the last place where bytes were missing.
    settled: Tallies,
    /// Why the connection was given up.
    fault: Option<Fault>,
    losses: u32,
    /// The directions that have ended.
    ended: (bool, bool),
}

impl Conversation {
    /// Makes the state of a connection, whose first segment this is.
    pub(super) fn new(database: Database, first: &Segment<'_>) -> Self {
        Self {
            client: Stream::default(),
            server: Stream::default(),
            decoder: Decoder::new(database, first.opens && first.acknowledged.is_none()),
            tallies: Tallies::default(),
            settled: Tallies::default(),
            fault: None,
            losses: 0,
            ended: (false, false),
        }
    }

    /// Returns why the connection was given up, if it was.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// Returns whether both sides have ended the connection.
    pub(super) fn has_ended(&self) -> bool {
        self.ended == (true, true)
    }

    /// Adds the counts to those of other connections.
    pub(super) fn settle(&mut self, totals: &mut Tallies) {
        totals.take(&mut self.settled);
        totals.take(&mut self.tallies);
    }

    /// Takes a segment, which was sent or received at this time in nanoseconds.
    pub(super) fn segment(
        &mut self,
        segment: &Segment<'_>,
        is_client: bool,
        at: u64,
        catalogue: &mut Catalogue,
        completed: &mut Vec<Completed>,
    ) {
        let (stream, other) =
            if is_client { (&mut self.client, &self.server) } else { (&mut self.server, &self.client) };
        if segment.opens {
            stream.open(segment.sequence);
        }
        if segment.ends {
            *(if is_client { &mut self.ended.0 } else { &mut self.ended.1 }) = true;
        }
        if self.fault.is_some() {
            return;
        }
        let mut has_gap = segment.is_cut || segment.acknowledged.is_some_and(|number| other.lacks(number));
        if !has_gap && !segment.payload.is_empty() && !segment.opens {
            let sink = &mut Sink { catalogue, completed };
            let decoder = &mut self.decoder;
            let mut decode = |bytes: &[u8], at| {
                if is_client { decoder.client(bytes, at, sink) } else { decoder.server(bytes, at, sink) }
            };
            let decoded = match stream.segment(segment.sequence, at, segment.payload) {
                Arrival::Nothing => Ok(()),
                Arrival::Gap => {
                    has_gap = true;
                    Ok(())
                }
                Arrival::Next(bytes) => decode(bytes, at).and_then(|()| {
                    while let Some((bytes, early)) = stream.early() {
                        // What came early could be read only now.
                        decode(&bytes, early.max(at))?;
                    }
                    Ok(())
                }),
            };
            for completed in completed.drain(..) {
                self.tallies.count(completed);
            }
            if let Err(fault) = decoded {
                self.contradicted(fault);
            }
        }
        if has_gap {
            self.settled.take(&mut self.tallies);
            self.client.begin_again();
            self.server.begin_again();
            self.begin_again();
        }
    }

    /// Drops what may be wrong, and begins again where that may help.
    fn contradicted(&mut self, fault: Fault) {
        if fault == Fault::Lost {
            self.tallies.clear();
            self.begin_again();
        } else {
            // What was counted before, such as the last commands before a subscription, was right.
            self.fault = Some(fault);
        }
    }

    fn begin_again(&mut self) {
        self.losses += 1;
        if self.losses > LOSSES {
            self.fault = Some(Fault::Lost);
        }
        self.decoder.begin_again();
    }
}
