//! Answers that could not be sent at once, and the end after the last one.

use super::*;

impl Engine {
    pub(super) fn watch(&mut self, token: Token, interest: Interest) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        let done = match connection.watched {
            true => self.poller.modify(&connection.socket, token, interest),
            false => self.poller.add(&connection.socket, token, interest),
        };
        connection.watched = true;
        if done.is_err() {
            self.connections.remove(token);
        }
    }

    /// Sends what is left of an answer, as far as the client takes it now, but not so much that others wait.
    pub(super) fn send_rest(&mut self, token: Token) {
        for _ in 0..PIECES {
            let Some(connection) = self.connections.get_mut(token) else { return };
            let made = match connection.unsent.is_empty() {
                true => connection.make_ready(&mut self.plain),
                false => Made::Ready,
            };
            match made {
                Made::Ready => {}
                Made::Pending => return self.wait_for_body(token),
                Made::Short => {
                    // The handler gave less than it announced.
                    self.connections.remove(token);
                    return;
                }
            }
            if connection.unsent.is_empty() {
                return self.all_sent(token);
            }
            match socket::send(&connection.socket, &connection.unsent) {
                Ok(0) => {
                    if std::mem::replace(&mut connection.doing, Doing::Sending) != Doing::Sending {
                        self.watch(token, Interest::ReadWrite);
                    }
                    return;
                }
                Ok(sent) => {
                    self.flow.sent += sent as u64;
                    connection.unsent.drain(..sent);
                    connection.since = self.now;
                }
                Err(_) => {
                    self.connections.remove(token);
                    return;
                }
            }
        }
        if let Some(connection) = self.connections.get_mut(token) {
            if std::mem::replace(&mut connection.doing, Doing::Sending) != Doing::Sending {
                self.watch(token, Interest::ReadWrite);
            }
            self.again.push(token);
        }
    }

    /// A body has nothing at hand.
    fn wait_for_body(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        if connection.ended && !connection.http.is_taking() {
            self.connections.remove(token);
            return;
        }
        let Some(Long::Stream(stream)) = connection.body.take() else { return };
        let was_sending = std::mem::replace(&mut connection.doing, Doing::Streaming) == Doing::Sending;
        connection.since = self.now;
        connection.unsent = Vec::new();
        self.tasks.push(Task { token, work: Work::Body(stream) });
        // To learn that the client has gone.
        if was_sending || !connection.watched {
            self.watch(token, Interest::Read);
        }
    }

    /// A long answer is sent.
    pub(super) fn all_sent(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        connection.unsent = Vec::new();
        connection.body = None;
        connection.endless = false;
        connection.http.finish();
        let was_sending = std::mem::replace(&mut connection.doing, Doing::Receiving) == Doing::Sending;
        match connection.after {
            After::GoOn => {}
            After::Close => {
                connection.take_leave();
                self.connections.remove(token);
                return;
            }
            After::CloseGently => return self.end_gently(token),
            After::HandOver(to) => return self.hand_over(token, to),
        }
        // There may be requests that have arrived meanwhile, here or in the kernel.
        if connection.unread || connection.http.is_behind() || connection.has_said_all() {
            self.again.push(token);
        }
        if was_sending || !connection.watched {
            self.watch(token, Interest::Read);
        }
    }

    #[inline]
    pub(super) fn go_on_sending(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        match connection.doing {
            Doing::Sending => self.send_rest(token),
            Doing::Waiting if !connection.unsent.is_empty() => {
                if let Ok(sent) = socket::send(&connection.socket, &connection.unsent) {
                    self.flow.sent += sent as u64;
                    connection.unsent.drain(..sent);
                }
            }
            _ => {}
        }
    }

    /// The last answer is given. What the client still sends is read and thrown away: to close at once would make the
    /// kernel reset the connection, and the client might never read the answer.
    pub(super) fn end_gently(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        if !connection.unsent.is_empty() {
            connection.after = After::CloseGently;
            return self.send_rest(token);
        }
        // Whatever may still be made of the request has nobody to go to.
        connection.waiter = None;
        connection.take_leave();
        socket::end_sending(&connection.socket);
        connection.doing = Doing::Ending(0);
        connection.since = self.now;
        self.again.push(token);
        if !connection.watched {
            self.watch(token, Interest::Read);
        }
    }
}
