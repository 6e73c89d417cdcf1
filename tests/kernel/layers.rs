//! Programs of container images: overlays of one layer.

use std::fs;
use std::path::Path;
use std::process::Command;

use observer_core::observer::Snapshot;
use observer_demo::{DemoConfig, DemoServer};
use observer_tests::{go_late_client, write_program};

use crate::older_connections::Client;
use crate::stage::Stage;

/// Lists of a client that is started and asked once.
const LISTS: u64 = 4;

#[test]
fn requests_from_two_containers_of_one_image_count_once() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["image", "below", "root"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    write_program(&folder.path().join("image/client"), &fs::read(go_late_client().unwrap()).unwrap()).unwrap();
    let start = || Client::start_by(in_container(folder.path()), &server, "rotated");

    // Both run when the probe begins, so it knows the program by both overlays.
    let before = [start(), start()];
    let stage = Stage::attach(&server);
    for _container in 0..2 {
        let mut client = start();
        client.ask();
        client.end();
    }
    let (Snapshot { totals, missed, .. }, outcome) = stage.finish();
    assert_eq!(totals.lists, 2 * LISTS, "{totals:?} {missed:?} {outcome:?}");
    assert_eq!((missed.malformed, missed.probe.records, missed.stopped_directions), (0, 0, 0), "{missed:?}");
    before.into_iter().for_each(Client::end);
}

/// A command that executes the program of the image in a new overlay. The mount is in a namespace of its own, and ends with the process.
fn in_container(folder: &Path) -> Command {
    const SCRIPT: &str = "cd \"$0\"; mount -t overlay overlay -o lowerdir=image:below root; exec root/client \"$@\"";
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-euc", SCRIPT]).arg(folder);
    unshare
}
