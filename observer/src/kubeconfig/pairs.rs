//! Lists the pairs of a cluster and a user that the contexts of a kubeconfig combine.
//!
//! A listener of the tap presents one client certificate upstream, so it serves one cluster as one user: a pair. Contexts that
//! differ only in their namespace share a pair.

use std::collections::{BTreeMap, BTreeSet};

use kube::config::Context;

use super::error::Error;
use super::merged::Kubeconfig;
use super::section::{Entry, Section};
use super::selected::Selected;

/// A cluster and a user that at least one context combines.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The cluster and the user. `selected.context` is the first of [`Self::contexts`].
    pub selected: Selected,
    /// The names of the contexts, in the order of the kubeconfig; never empty.
    pub contexts: Vec<String>,
}

/// Contexts that no listener serves. They stay in the client's copy as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Their names, in the order of the kubeconfig; never empty.
    pub contexts: Vec<String>,
    /// The location and the remedy, without a secret.
    pub why: String,
}

/// All contexts of a kubeconfig, each in one of two lists.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Pairs that can be served; the current context's is first.
    pub served: Vec<Pair>,
    /// Contexts that cannot be served.
    pub left_out: Vec<LeftOut>,
}

/// Maximum number of pairs. Each served pair takes two of the 1024 descriptors that a process may usually have open.
pub const MAX_PAIRS: usize = 128;

/// The names of a cluster and of a user.
type Names = (String, Option<String>);

impl Kubeconfig {
    /// The pairs of all contexts. Fails if the current context cannot be used. Problems of other contexts, and contexts beyond
    /// [`MAX_PAIRS`], are in [`Pairs::left_out`]. If contexts have the same name, the first one counts.
    pub fn pairs(&self) -> Result<Pairs, Error> {
        let current = self.current()?;
        let mut sorting = Sorting::default();
        sorting.seen.insert(current.context.clone());
        sorting.known.insert((current.cluster.clone(), current.user.clone()), Known::Served(0));
        let contexts = vec![current.context.clone()];
        sorting.served.push(Pair { selected: current, contexts });
        for context in self.entries(Section::Contexts).iter().filter(|context| !context.name.is_empty()) {
            if sorting.seen.insert(context.name.clone()) {
                sorting.sort(self, context);
            }
        }
        Ok(sorting.done())
    }
}

/// The result for the contexts processed so far.
#[derive(Default)]
struct Sorting {
    seen: BTreeSet<String>,
    known: BTreeMap<Names, Known>,
    served: Vec<Pair>,
    left_out: Vec<LeftOut>,
    too_many: Vec<String>,
}

/// The list that contains a pair, with the pair's index in it.
enum Known {
    Served(usize),
    LeftOut(usize),
}

impl Sorting {
    fn sort(&mut self, kubeconfig: &Kubeconfig, context: &Entry) {
        let name = context.name.clone();
        let names = match context.typed::<Context>() {
            Ok(names) => (names.cluster, names.user.filter(|user| !user.is_empty())),
            Err(error) => return self.left_out.push(LeftOut { contexts: vec![name], why: error.to_string() }),
        };
        let alike = match self.known.get(&names) {
            Some(Known::Served(index)) => self.served.get_mut(*index).map(|pair| &mut pair.contexts),
            Some(Known::LeftOut(index)) => self.left_out.get_mut(*index).map(|left_out| &mut left_out.contexts),
            None if self.known.len() >= MAX_PAIRS => Some(&mut self.too_many),
            None => None,
        };
        match alike {
            Some(contexts) => contexts.push(name),
            None => self.read(kubeconfig, name, names),
        }
    }

    fn read(&mut self, kubeconfig: &Kubeconfig, context: String, names: Names) {
        match kubeconfig.context(&context) {
            Ok(selected) => {
                self.known.insert(names, Known::Served(self.served.len()));
                self.served.push(Pair { selected, contexts: vec![context] });
            }
            Err(error) => {
                self.known.insert(names, Known::LeftOut(self.left_out.len()));
                self.left_out.push(LeftOut { contexts: vec![context], why: error.to_string() });
            }
        }
    }

    fn done(mut self) -> Pairs {
        if !self.too_many.is_empty() {
            let why = format!("more than {MAX_PAIRS} pairs of a cluster and a user; name the one you need with --context");
            self.left_out.push(LeftOut { contexts: self.too_many, why });
        }
        Pairs { served: self.served, left_out: self.left_out }
    }
}
