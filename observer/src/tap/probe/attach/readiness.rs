//! Keeps the kernel ready to attach uprobes at once, while programs are started.
//!
//! Before it attaches the first uprobe after a pause, the kernel waits for an RCU grace period, which takes 5 to 20 ms. It then stays
//! ready for one more grace period (`register_for_each_vma` of Linux `kernel/events/uprobes.c` takes `dup_mmap_sem`, and
//! `rcu_sync_enter` of `kernel/rcu/sync.c` waits, 6.18). A new program may send its first request sooner. So this thread attaches a
//! uprobe, every few milliseconds, to a page of its own that no process runs. A program is often started soon after another one:
//! `runc` before that of a container, or a shell's commands. While no program is started, the thread sleeps.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use observer_ebpf::{AttachCookie, DescriptorOffsets};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use super::endings::Endings;
use crate::tap::probe::kernel::{AttachBy, Attachment, Probe, Programs};

/// How often a uprobe is attached. With 250 ticks a second (`CONFIG_HZ`), a grace period lasts at least 8 ms.
const EVERY: Duration = Duration::from_millis(8);
/// How long the kernel is kept ready after a process executed a program.
const KEPT: Duration = Duration::from_secs(10);
/// Number of attachments that end together, since each waits some ten milliseconds for the kernel.
const BATCH: usize = 64;
/// Size of the page, in bytes.
const PAGE: u64 = 4_096;

/// A thread that keeps the kernel ready. It ends when the value is dropped.
#[derive(Debug)]
pub(super) struct Readiness {
    executed: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Readiness {
    /// Starts the thread. If that fails, the kernel is not kept ready, and probes attach later. Neither is it with perf events: it
    /// detaches them one by one, which takes longer than the time between two of them.
    pub(super) fn start(programs: Arc<Programs>) -> Self {
        if programs.attach_by() != AttachBy::MultiLink {
            return Self { executed: None, thread: None };
        }
        let (executed, receiver) = sync_channel(1);
        let thread = Builder::new().name("probe-ready".to_owned()).spawn(move || keep_ready(&programs, &receiver)).ok();
        Self { executed: Some(executed), thread }
    }

    /// Notes that a process executed a program. Never waits.
    pub(super) fn executed(&self) {
        if let Some(executed) = &self.executed {
            // The thread takes one note for all of the last milliseconds.
            let _full = executed.try_send(());
        }
    }
}

impl Drop for Readiness {
    fn drop(&mut self) {
        self.executed = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has no other effect.
            let _panicked = thread.join();
        }
    }
}

/// Attaches a uprobe every few milliseconds, while programs are executed.
fn keep_ready(programs: &Programs, executed: &Receiver<()>) {
    let cookie = AttachCookie { file: 0, descriptor: DescriptorOffsets::UNKNOWN };
    let mut made = None;
    let attach = || {
        if made.is_none() {
            made = page();
        }
        let path = PathBuf::from(format!("/proc/self/fd/{}", made.as_ref()?.as_raw_fd()));
        // The program runs nowhere, so any program will do.
        programs.attach(Probe::GoClose, &path, &[0], cookie).ok()
    };
    keep(executed, attach, Attachment::end_all);
}

/// `attach` returns `None` if the kernel refuses, for example for lack of descriptors or memory. Then the next note of an executed
/// program causes the next attempt.
fn keep<A: Send + 'static>(executed: &Receiver<()>, mut attach: impl FnMut() -> Option<A>, end_all: fn(Vec<A>)) {
    let mut endings = Endings::start("probe-unready", end_all);
    let mut end = |attached| {
        // Those before them come first, so there are never more than two batches.
        endings.wait_for(|()| true);
        endings.take_finished();
        endings.end((), attached);
    };
    while executed.recv().is_ok() {
        let mut attached = Vec::new();
        let mut until = Instant::now() + KEPT;
        while Instant::now() < until {
            let attachment = attach();
            let is_refused = attachment.is_none();
            attached.extend(attachment);
            if attached.len() == BATCH {
                end(std::mem::take(&mut attached));
            }
            thread::sleep(EVERY);
            if is_refused {
                break;
            }
            match executed.try_recv() {
                Ok(()) => until = Instant::now() + KEPT,
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => break,
            }
        }
        end(attached);
    }
}

/// A page in memory, which no process maps.
fn page() -> Option<OwnedFd> {
    let page = memfd_create("watchtap", MemfdFlags::CLOEXEC).ok()?;
    ftruncate(&page, PAGE).ok()?;
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_attachment_is_tried_again_with_the_next_program() {
        let (notes, executed) = sync_channel(1);
        let (attempts, attempted) = sync_channel(0);
        let thread = thread::spawn(move || {
            let mut number = 0;
            let attach = || {
                number += 1;
                attempts.send(number).unwrap();
                // The kernel refuses the first one.
                (number > 1).then_some(())
            };
            keep(&executed, attach, |_| {});
        });
        notes.send(()).unwrap();
        assert_eq!(attempted.recv(), Ok(1));
        notes.send(()).unwrap();
        // Without another note, the kernel is kept ready.
        assert_eq!([attempted.recv(), attempted.recv()], [Ok(2), Ok(3)]);
        drop(notes);
        attempted.into_iter().for_each(drop);
        thread.join().unwrap();
    }
}
