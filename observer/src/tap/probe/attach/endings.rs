//! Ends attachments on a thread of its own. The kernel takes some ten milliseconds for that, and seconds for many perf events; a new
//! program must not wait so long.

use std::mem;
use std::sync::mpsc::{Receiver, SendError, Sender, TryRecvError, channel};
use std::thread::{Builder, JoinHandle};

/// Attachments that end, each with the name `T` of what ends with them. Dropping the value waits until all have ended.
#[derive(Debug)]
pub(super) struct Endings<T, A> {
    end_all: fn(Vec<A>),
    /// `None` if the thread could not be started.
    sender: Option<Sender<(T, Vec<A>)>>,
    ended: Receiver<T>,
    under_way: Vec<T>,
    finished: Vec<T>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Copy + PartialEq + Send + 'static, A: Send + 'static> Endings<T, A> {
    /// Starts the thread. If that fails, attachments end on the thread that calls [`end`](Self::end).
    pub(super) fn start(name: &str, end_all: fn(Vec<A>)) -> Self {
        let (sender, receiver) = channel();
        let (done, ended) = channel();
        let thread = Builder::new().name(name.to_owned()).spawn(move || run(&receiver, &done, end_all)).ok();
        let sender = thread.is_some().then_some(sender);
        Self { end_all, sender, ended, under_way: Vec::new(), finished: Vec::new(), thread }
    }

    /// Begins to end attachments.
    pub(super) fn end(&mut self, of: T, attachments: Vec<A>) {
        let Some(sender) = &self.sender else {
            (self.end_all)(attachments);
            return self.finished.push(of);
        };
        match sender.send((of, attachments)) {
            Ok(()) => self.under_way.push(of),
            // The thread panicked. The attachments end where they are dropped.
            Err(SendError((of, _attachments))) => self.finished.push(of),
        }
    }

    /// Waits until all attachments with such a name have ended.
    pub(super) fn wait_for(&mut self, is_one: impl Fn(T) -> bool) {
        while self.under_way.iter().any(|of| is_one(*of)) {
            // It fails if the thread panicked, which has ended its attachments, too.
            let Ok(of) = self.ended.recv() else { return self.finished.append(&mut self.under_way) };
            self.finish(of);
        }
    }

    /// The names whose attachments have ended since the last call.
    pub(super) fn take_finished(&mut self) -> Vec<T> {
        loop {
            match self.ended.try_recv() {
                Ok(of) => self.finish(of),
                Err(TryRecvError::Empty) => break,
                // As in `wait_for`, or the thread never ran.
                Err(TryRecvError::Disconnected) => {
                    self.finished.append(&mut self.under_way);
                    break;
                }
            }
        }
        mem::take(&mut self.finished)
    }

    fn finish(&mut self, of: T) {
        let place = self.under_way.iter().position(|other| *other == of);
        self.finished.extend(place.map(|place| self.under_way.swap_remove(place)));
    }
}

impl<T, A> Drop for Endings<T, A> {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has no other effect.
            let _panicked = thread.join();
        }
    }
}

/// Ends what was received meanwhile together, since the attachments share the time that the kernel takes.
fn run<T, A>(receiver: &Receiver<(T, Vec<A>)>, done: &Sender<T>, end_all: fn(Vec<A>)) {
    while let Ok(first) = receiver.recv() {
        let (names, attachments): (Vec<T>, Vec<Vec<A>>) = [first].into_iter().chain(receiver.try_iter()).unzip();
        end_all(attachments.into_iter().flatten().collect());
        for name in names {
            let _gone = done.send(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::SyncSender;

    use super::*;

    /// An attachment whose end waits until it can be sent.
    fn end_all(attachments: Vec<SyncSender<&'static str>>) {
        for attachment in attachments {
            attachment.send("ended").unwrap();
        }
    }

    fn attachment() -> (Vec<SyncSender<&'static str>>, Receiver<&'static str>) {
        let (sender, receiver) = std::sync::mpsc::sync_channel(0);
        (vec![sender], receiver)
    }

    #[test]
    fn caller_continues_while_attachments_end() {
        let mut endings = Endings::start("endings", end_all);
        let (first, held) = attachment();
        endings.end(1, first);
        assert_eq!(endings.take_finished(), [0; 0], "the end of the first one waits");
        endings.wait_for(|of| of == 2);
        assert_eq!(held.recv(), Ok("ended"));
        endings.wait_for(|of| of == 1);
        assert_eq!(endings.take_finished(), [1]);
        assert_eq!(endings.take_finished(), [0; 0]);
    }

    #[test]
    fn dropped_value_has_ended_its_attachments() {
        let mut endings = Endings::start("endings", end_all);
        let (sender, receiver) = std::sync::mpsc::sync_channel(2);
        endings.end(1, vec![sender.clone()]);
        endings.end(2, vec![sender]);
        drop(endings);
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["ended", "ended"]);
    }

    /// Notes its end by itself, as an attachment does that is dropped.
    struct Dropped(SyncSender<&'static str>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.send("dropped").unwrap();
        }
    }

    #[test]
    fn attachments_end_after_a_panic_of_the_thread() {
        let mut endings = Endings::<_, Dropped>::start("endings", |_| panic!("a test lets the thread of endings panic"));
        let (sender, receiver) = std::sync::mpsc::sync_channel(3);
        endings.end(1, vec![Dropped(sender.clone())]);
        endings.wait_for(|of| of == 1);
        assert_eq!(endings.take_finished(), [1]);
        endings.end(2, vec![Dropped(sender.clone())]);
        endings.under_way.push(3);
        let mut finished = endings.take_finished();
        finished.sort_unstable();
        assert_eq!(finished, [2, 3]);
        assert_eq!(receiver.try_iter().count(), 2);
    }

    #[test]
    fn attachments_end_without_a_thread_too() {
        let mut endings = Endings::start("endings", end_all);
        endings.sender = None;
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        endings.end(1, vec![sender]);
        assert_eq!(receiver.recv(), Ok("ended"));
        assert_eq!(endings.take_finished(), [1]);
    }
}
