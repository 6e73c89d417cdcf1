//! Passes messages for standard error on to pages of other terminals. Without such pages, nothing is kept.

use std::sync::{Arc, LazyLock};

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};

use super::text::Printable;

/// Maximum number of lines kept for a page that does not take them; older ones are dropped. A page shows no more of them either.
const MOST_LINES: usize = 32;

/// Maximum number of bytes of a line; a longer one is left out. Messages are far shorter.
const LONGEST: usize = 4096;

static LINES: LazyLock<Sender<Arc<str>>> = LazyLock::new(|| Sender::new(MOST_LINES));

/// The messages of this process, for one page.
#[derive(Debug)]
pub(crate) struct Messages(Receiver<Arc<str>>);

impl Messages {
    /// All messages from now on.
    pub(crate) fn subscribe() -> Self {
        Self(LINES.subscribe())
    }

    /// The next line. Cancel safe.
    pub(crate) async fn next(&mut self) -> Arc<str> {
        loop {
            match self.0.recv().await {
                Ok(line) => return line,
                Err(RecvError::Lagged(_)) => {}
                // The sender is static, so this cannot happen.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// Passes the lines of a message on.
pub(super) fn pass_on(text: &Printable) {
    if LINES.receiver_count() == 0 {
        return;
    }
    for line in text.as_str().lines().filter(|line| line.len() <= LONGEST) {
        // The last page may have left meanwhile.
        let _received = LINES.send(line.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn slow_page_gets_the_latest_lines() {
        let mut messages = Messages::subscribe();
        for number in 0..=MOST_LINES {
            pass_on(&Printable::line(format_args!("slow_page {number}")));
        }
        let mut last = messages.next().await;
        while !last.ends_with(&format!("slow_page {MOST_LINES}")) {
            assert_ne!(&*last, "slow_page 0", "the oldest line was dropped");
            last = messages.next().await;
        }
    }
}
