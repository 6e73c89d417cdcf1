//! Runs groups of tests side by side. Many groups mostly wait, and the processors of a small machine are idle meanwhile.

use std::fs::{self, File};
use std::io::{self, stdout};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::thread::{available_parallelism, scope};

use super::group::Group;
use super::report::Outcome;
use super::running::Output;

/// The part of the machine that a group needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// All of it: the group measures, or its tests change what other groups use.
    All,
    /// Tenths of a processor that the group keeps busy on average, as the table at the end has shown.
    Tenths(usize),
}

/// Tenths of a processor that may be given away. Each group needs more than its average at times, such as when a server starts.
const OF_EACH_PROCESSOR: usize = 9;

/// Number of groups that may run at the same time. An API server takes up to 500 MB, and some groups start several.
const MOST_AT_ONCE: usize = 4;

/// Runs each group once: first those that need all of the machine, then the others side by side, in this order if they fit.
///
/// `run` runs a group, and `done` gets its outcome. Both that call and the group's output are not interrupted by those of others.
///
/// The folder `kept` has the output of each group that runs beside others, in a file that is removed after it was printed. So after a
/// run that was killed, it has the output of those groups that were running.
pub(super) fn run(
    groups: &[Group],
    kept: &Path,
    run: impl Fn(Group, &Output) -> Outcome + Sync,
    mut done: impl FnMut(Group, Outcome),
) {
    let file = |group: Group| kept.join(format!("{}.log", group.name()));
    let (alone, mut waiting): (Vec<Group>, Vec<Group>) = groups.iter().partition(|group| group.share() == Share::All);
    // With nothing beside it, a group can show its output at once.
    let last = if waiting.len() == 1 { waiting.pop() } else { None };
    for group in alone.into_iter().chain(last) {
        println!("\n== {}", group.name());
        done(group, run(group, &Output::Shown));
    }
    let (sender, receiver) = mpsc::channel();
    let (run, mut running) = (&run, Vec::new());
    let processors = available_parallelism().map_or(1, NonZero::get);
    scope(|scope| {
        while !waiting.is_empty() || !running.is_empty() {
            while let Some(group) = next(&mut waiting, &running, processors) {
                let kept = file(group);
                // A run that was killed may have left it.
                fs::remove_file(&kept).ok();
                println!("== {} begins; its output so far: {}", group.name(), kept.display());
                running.push(group);
                let sender = sender.clone();
                // Without an outcome of a thread that panics, this would wait for it forever.
                let run = move || catch_unwind(AssertUnwindSafe(|| run(group, &Output::Kept(kept)))).unwrap_or_else(|_| panicked());
                scope.spawn(move || sender.send((group, run())).ok());
            }
            let Ok((group, outcome)) = receiver.recv() else { break };
            running.retain(|other| *other != group);
            println!("\n== {}", group.name());
            show(&file(group));
            done(group, outcome);
        }
    });
}

fn panicked() -> Outcome {
    Outcome::could_not_run(String::from("the task itself panicked: see its message above"))
}

/// Takes the first group that fits beside those that run.
fn next(waiting: &mut Vec<Group>, running: &[Group], processors: usize) -> Option<Group> {
    let ended = |group: Group| !waiting.contains(&group) && !running.contains(&group);
    let place = waiting.iter().position(|group| fits(*group, running, processors) && group.after().is_none_or(ended))?;
    Some(waiting.remove(place))
}

fn fits(group: Group, running: &[Group], processors: usize) -> bool {
    let tenths = |group: &Group| match group.share() {
        Share::All => OF_EACH_PROCESSOR * processors,
        Share::Tenths(tenths) => tenths,
    };
    let used: usize = running.iter().map(tenths).sum();
    running.is_empty() || (running.len() < MOST_AT_ONCE && used + tenths(&group) <= OF_EACH_PROCESSOR * processors)
}

/// Prints the output of a group, and removes its file.
fn show(path: &Path) {
    let copied = File::open(path).and_then(|mut output| io::copy(&mut output, &mut stdout().lock()));
    if let Err(error) = copied.and_then(|_bytes| fs::remove_file(path)) {
        println!("cannot print {}: {error}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn groups_start_in_order_as_far_as_they_fit() {
        let mut waiting = vec![Group::It, Group::Cluster, Group::Stories, Group::Faults];
        let mut running = Vec::new();
        while let Some(group) = next(&mut waiting, &running, 2) {
            running.push(group);
        }
        assert_eq!((running, waiting), (vec![Group::It, Group::Stories], vec![Group::Cluster, Group::Faults]));
    }

    #[test]
    fn node_waits_for_the_image_only() {
        let mut waiting = vec![Group::Node, Group::Image, Group::Stories];
        assert_eq!(next(&mut waiting, &[], 2), Some(Group::Image));
        assert_eq!(next(&mut waiting, &[Group::Image], 2), Some(Group::Stories));
        assert_eq!(next(&mut waiting, &[Group::Image], 2), None);
        assert_eq!(next(&mut waiting, &[Group::Stories], 2), Some(Group::Node));
    }

    #[test]
    fn each_group_runs_even_on_a_single_processor() {
        for group in Group::ALL {
            assert_eq!(next(&mut vec![group], &[], 1), Some(group));
            assert_eq!(next(&mut vec![group], &[Group::Unit], 1), None);
        }
    }

    #[test]
    fn number_of_groups_is_limited_on_a_large_machine() {
        let mut waiting = Group::ALL.to_vec();
        waiting.retain(|group| group.share() != Share::All);
        let mut running = Vec::new();
        while let Some(group) = next(&mut waiting, &running, 64) {
            running.push(group);
        }
        assert_eq!(running.len(), MOST_AT_ONCE);
    }

    #[test]
    fn group_whose_thread_panics_is_a_failure() {
        let mut outcomes = Vec::new();
        let task = |group, _: &Output| if group == Group::Soak { panic!("a defect of the task") } else { panicked() };
        run(&[Group::Soak, Group::Node], &folder("panics"), task, |_, outcome| outcomes.push(outcome));
        assert_eq!(outcomes, [panicked(), panicked()]);
    }

    #[test]
    fn outcome_of_each_group_arrives_once() {
        let groups = [Group::Soak, Group::Unit, Group::Node, Group::It];
        let mut outcomes = Vec::new();
        let outcome = |group: Group, output: &Output| {
            if let Output::Kept(path) = output {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
            Outcome::could_not_run(group.name().to_owned())
        };
        let kept = folder("once");
        run(&groups, &kept, outcome, |group, outcome| outcomes.push((group, outcome)));
        assert_eq!(outcomes[0].0, Group::Unit);
        assert_eq!(outcomes.len(), groups.len());
        for (group, outcome) in outcomes {
            assert_eq!(outcome, Outcome::could_not_run(group.name().to_owned()));
        }
        // It is empty, since each file was removed after it was printed.
        fs::remove_dir(&kept).unwrap();
    }

    /// A folder that no other run uses.
    fn folder(of: &str) -> PathBuf {
        std::env::temp_dir().join(format!("watchtap-lanes-{}-{of}", std::process::id()))
    }
}
