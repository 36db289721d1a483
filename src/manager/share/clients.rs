//! [`Clients`]: the open connections of a server, at most a fixed number. A new client beyond that
//! number closes the oldest connection that has sent no request.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a closed connection may take to go before another one is closed.
const GOING: Duration = Duration::from_millis(100);

/// The connections of a server.
pub(super) struct Clients {
    most: usize,
    open: Mutex<Open>,
    left: Condvar,
}

#[derive(Default)]
struct Open {
    count: usize,
    next: u64,
    /// Those that have not asked yet, the oldest first.
    silent: BTreeMap<u64, TcpStream>,
}

/// A registered connection; dropping it frees its place.
pub(super) struct Client<'c> {
    clients: &'c Clients,
    number: u64,
}

impl Clients {
    /// No connections yet; `most` is the limit.
    pub fn new(most: usize) -> Clients {
        Clients { most, open: Mutex::default(), left: Condvar::new() }
    }

    /// Registers a connection. At the limit, the oldest connection without a request is closed
    /// first; if all have sent one, this waits until a connection ends.
    ///
    /// # Errors
    /// The system has no descriptor left for a second handle of the connection.
    pub fn enter(&self, stream: &TcpStream) -> std::io::Result<Client<'_>> {
        let stream = stream.try_clone()?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while open.count >= self.most {
            if let Some((_, oldest)) = open.silent.pop_first() {
                let _ = oldest.shutdown(Shutdown::Both);
            }
            open = self.left.wait_timeout(open, GOING).unwrap_or_else(PoisonError::into_inner).0;
        }
        let number = open.next;
        open.next += 1;
        open.count += 1;
        open.silent.insert(number, stream);
        Ok(Client { clients: self, number })
    }
}

impl Client<'_> {
    /// Notes that the client has sent its request: it is no longer closed to make room.
    pub fn has_asked(&self) {
        self.clients.open.lock().unwrap_or_else(PoisonError::into_inner).silent.remove(&self.number);
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        let mut open = self.clients.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.silent.remove(&self.number);
        open.count -= 1;
        drop(open);
        self.clients.left.notify_one();
    }
}
