//! Tests of writing, rotating and replaying capture files in a directory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use observer_core::capture::{LostReason, Refused};
use observer_core::observation::{
    CaptureObservation, ConnectionId, ConnectionObservation, Observation, Subject, TapObservation, UpstreamName,
};
use observer_core::time::Timestamp;

use super::*;

#[test]
fn rotated_files_are_bounded_private_and_read_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.cap");
    let observations = observations(20_000);
    write(&path, Bounds { max_size: 16 << 10, files: 3 }, &observations);

    let mut files: Vec<PathBuf> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["run.cap", "run.cap.1", "run.cap.2"]);
    for file in &files {
        let metadata = fs::metadata(file).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        assert!(metadata.len() < 128 << 10, "{} bytes", metadata.len());
    }
    let (read, lost) = read(&files);
    assert_eq!(lost, [LostReason::NoEarlierPart]);
    let recorded = &read[read
        .iter()
        .rposition(|one| matches!(one.subject, Subject::Capture(CaptureObservation::Unrecorded { .. })))
        .unwrap()
        + 1..];
    assert!(recorded.len() > 100 && observations.ends_with(recorded), "{} read", recorded.len());
}

#[test]
fn all_parts_together_contain_every_observation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.cap");
    let observations = observations(20_000);
    write(&path, Bounds { max_size: 16 << 10, files: 100 }, &observations);
    let files: Vec<PathBuf> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 3, "{files:?}");
    assert_eq!(read(&files), (observations, vec![]));
}

#[test]
fn observations_flushed_before_a_crash_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.cap");
    let observations = observations(10);
    let mut capture = CaptureFile::create(&path, Bounds { max_size: 1 << 20, files: 2 }).unwrap();
    for observation in &observations {
        capture.record(observation).unwrap();
    }
    // Simulates a crash: the capture is never finished.
    std::thread::sleep(capture.due_in().unwrap());
    capture.flush_if_due().unwrap();
    assert_eq!(capture.due_in(), None);
    drop(capture);
    let (mut read, lost) = read(&[path]);
    assert!(matches!(read.pop().unwrap().subject, Subject::Capture(CaptureObservation::Unrecorded { observations: None, .. })));
    assert_eq!((read, lost), (observations, vec![LostReason::Torn]));
}

#[test]
fn files_of_different_captures_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.cap", "b.cap"].map(|name| folder.path().join(name));
    for (file, from) in files.iter().zip([0, 3]) {
        write(file, Bounds { max_size: 1 << 20, files: 2 }, &observations(9)[from..]);
    }
    let error = Recording::of(&files).unwrap().replay(Pace::AtOnce, &mut |_| {}).unwrap_err();
    assert!(matches!(error, ReadError::Refused { refused: Refused::OtherCapture { .. }, .. }), "{error}");
    assert!(error.to_string().contains("b.cap"), "{error}");
}

#[test]
fn many_open_connections_do_not_rotate_at_every_observation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.cap");
    let opened = observations(2_000).into_iter().zip(1..).map(|(Observation { at, subject }, number)| {
        let Subject::Tap(TapObservation::ConnectFailed { why }) = subject else { unreachable!("see observations()") };
        let subject = Subject::Connection(
            ConnectionId(number),
            ConnectionObservation::Opened {
                upstream: UpstreamName(why),
                protocol: None,
                process: None,
                container_name: None,
                attached_late: false,
                logged: None,
            },
        );
        Observation { at, subject }
    });
    let observations: Vec<Observation> = opened.chain(observations(6_000).into_iter().skip(2_000)).collect();
    let bounds = Bounds { max_size: 4 << 10, files: 200 };
    write(&path, bounds, &observations);
    let files: Vec<PathBuf> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(fs::metadata(&path).unwrap().len() > bounds.max_size, "what stands fills a file");
    assert!((2..6).contains(&files.len()), "{} files", files.len());
    assert_eq!(read(&files), (observations, vec![]));
}

#[test]
fn an_empty_part_is_lost_and_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.cap");
    let observations = observations(20_000);
    write(&path, Bounds { max_size: 16 << 10, files: 100 }, &observations);
    let files: Vec<PathBuf> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    // The writer was killed after it created the file and before it wrote the head.
    fs::write(&path, "").unwrap();
    let (mut read_back, lost) = read(&files);
    assert_eq!(lost, [LostReason::NoLaterPart, LostReason::Torn]);
    assert!(matches!(
        read_back.pop().unwrap().subject,
        Subject::Capture(CaptureObservation::Unrecorded { observations: None, .. })
    ));
    assert!(read_back.len() > 1_000 && observations.starts_with(&read_back), "{} read", read_back.len());
}

#[test]
fn files_that_are_all_empty_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.cap", "b.cap"].map(|name| folder.path().join(name));
    for file in &files {
        fs::write(file, "").unwrap();
    }
    let error = Recording::of(&files).unwrap().replay(Pace::AtOnce, &mut |_| {}).unwrap_err();
    assert!(matches!(error, ReadError::Refused { refused: Refused::Empty, .. }), "{error}");
}

#[test]
fn replay_pace_decides_when_observations_are_due() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.cap");
    write(&path, Bounds { max_size: 1 << 20, files: 2 }, &observations(11));
    let begun = std::time::Instant::now();
    // 10 milliseconds at a tenth of the speed.
    let mut due = Vec::new();
    Recording::of(&[path]).unwrap().replay(Pace::Times(0.1), &mut |one| due.push(begun.elapsed() + one.after)).unwrap();
    assert_eq!(due.len(), 11);
    assert!(due[10] >= Duration::from_millis(100), "{due:?}");
}

/// Makes `count` observations, one per millisecond, all different.
fn observations(count: u64) -> Vec<Observation> {
    let each = (1..=count).map(|number| Observation {
        at: Timestamp::from_nanos(number * 1_000_000),
        subject: Subject::Tap(TapObservation::ConnectFailed { why: format!("{:x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) }),
    });
    each.collect()
}

fn write(path: &Path, bounds: Bounds, observations: &[Observation]) {
    let mut capture = CaptureFile::create(path, bounds).unwrap();
    for observation in observations {
        capture.record(observation).unwrap();
    }
    capture.finish().unwrap();
}

fn read(files: &[PathBuf]) -> (Vec<Observation>, Vec<LostReason>) {
    let mut observations = Vec::new();
    let lost = Recording::of(files).unwrap().replay(Pace::AtOnce, &mut |one| observations.push(one.observation)).unwrap();
    (observations, lost.into_iter().map(|(_, lost)| lost.reason).collect())
}
