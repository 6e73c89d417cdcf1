//! The numbers of label values, and the values of these numbers.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::client_labels::{ClientLabel, ClientLabels};
use super::first_come::FirstCome;
use super::label::{Label, LabelRow, OTHER, Values};
use super::limits::SeriesLimits;
use crate::exchange::ValueNumber;
use crate::http::Identity;
use crate::k8s::{RequestInfo, is_misplaced};
use crate::observation::{Process, RequestLine};
use crate::routing::{RuleId, all_rules};

/// Longest text of a value, in bytes. A `ServiceAccount` consists of two. Names of Kubernetes have 253 at most.
const LONGEST: usize = 256;

/// All values that labels have so far.
#[derive(Clone, Debug)]
pub(super) struct LabelValues {
    /// Program, and namespace and name of its `ServiceAccount`; then the values of all [`ClientLabel`]s.
    clients: FirstCome<[Box<str>; 3 + ClientLabel::ALL.len()]>,
    client_labels: ClientLabels,
    /// Group and resource.
    resources: FirstCome<[Box<str>; 2]>,
    subresources: FirstCome<[Box<str>; 1]>,
    codes: FirstCome<u16>,
    /// Values of the other labels whose values consist of one text.
    texts: BTreeMap<Label, FirstCome<[Box<str>; 1]>>,
    /// All rules, by identifier.
    rules: Vec<RuleId>,
}

impl LabelValues {
    pub(super) fn new(limits: &SeriesLimits) -> Self {
        let mut rules: Vec<RuleId> = all_rules().map(|rule| rule.id).collect();
        rules.sort_unstable();
        let mut values = Self {
            clients: FirstCome::new(limits.clients),
            client_labels: limits.client_labels,
            resources: FirstCome::new(limits.resources),
            subresources: FirstCome::new(limits.subresources.saturating_add(1)),
            codes: FirstCome::new(limits.codes),
            texts: limits.texts().map(|(label, most)| (label, FirstCome::new(most))).into_iter().collect(),
            rules,
        };
        // Almost all requests are for the object itself, so this value has its place.
        values.object_itself();
        values
    }

    /// The client of a request: the container that it comes from, the program of its first product, without the version, and its
    /// `ServiceAccount`. `process` is the client, as far as it is known.
    pub(super) fn client(&mut self, container_name: Option<&str>, process: Option<&Process>, request: &RequestLine) -> ValueNumber {
        let program = request.product().and_then(|product| product.split('/').next()).unwrap_or_default();
        let (namespace, name) = match &request.identity {
            // A namespace has no slash. If a forged token has one there, two accounts could have the same text.
            Some(Identity::ServiceAccount { namespace, name }) if !namespace.contains('/') => (namespace.as_str(), name.as_str()),
            Some(_) | None => ("", ""),
        };
        let program = container_name.map_or(Cow::Borrowed(program), |container| Cow::Owned(format!("{container}:{program}")));
        let [pod_namespace, pod, container, workload, unit] = self.client_labels.values(process);
        texts(&mut self.clients, [&program, namespace, name, pod_namespace, pod, container, workload, unit])
    }

    /// Group and resource, and the subresource. The version would add label sets, and no information about load.
    ///
    /// A path whose segments are misplaced is no resource, because labels must not contain names of objects and namespaces.
    pub(super) fn resource_and_subresource(&mut self, info: Option<&RequestInfo>) -> (ValueNumber, ValueNumber) {
        let of_resource = info.and_then(|info| Some((info, info.resource.as_ref()?)));
        let Some((info, resource)) = of_resource.filter(|(info, resource)| !is_misplaced(info, resource)) else {
            return (texts(&mut self.resources, ["", ""]), self.object_itself());
        };
        let resource = texts(&mut self.resources, [&resource.group, &resource.resource]);
        (resource, texts(&mut self.subresources, [&info.subresource]))
    }

    fn object_itself(&mut self) -> ValueNumber {
        texts(&mut self.subresources, [""])
    }

    /// A text of any of the other labels; [`ValueNumber::OTHER`] if their values are no texts.
    pub(super) fn text(&mut self, label: Label, text: &str) -> ValueNumber {
        self.texts.get_mut(&label).map_or(ValueNumber::OTHER, |values| texts(values, [text]))
    }

    /// An unknown status is a value, too.
    pub(super) fn code(&mut self, status: Option<u16>) -> ValueNumber {
        let status = status.unwrap_or_default();
        self.codes.number(status, |known| *known == status, || status)
    }

    pub(super) fn rule(&self, rule: RuleId) -> ValueNumber {
        self.rules.binary_search(&rule).ok().and_then(|place| u8::try_from(place).ok()).map_or(ValueNumber::OTHER, ValueNumber)
    }

    /// How many values a label has from the start, whatever the traffic; `None` if its values depend on the traffic.
    pub(super) fn known_before(&self, values: Values) -> Option<usize> {
        match values {
            Values::FirstCome => None,
            Values::Rules => Some(self.rules.len()),
            Values::Words(words) => Some(words.len()),
        }
    }

    /// The names of a label in the output.
    pub(super) fn names(&self, row: &LabelRow) -> impl Iterator<Item = &'static str> {
        let of_processes = self.client_labels.iter().filter(|_| row.label == Label::Client).map(ClientLabel::name);
        row.names.iter().copied().chain(of_processes)
    }

    /// The texts of a value, one for each name of its label.
    pub(super) fn texts(&self, row: &LabelRow, number: ValueNumber) -> Vec<Cow<'_, str>> {
        let known = match (row.label, row.values) {
            (_, Values::Words(words)) => words.get(number.index()).map(|word| vec![Cow::Borrowed(*word)]),
            (Label::Client, _) => self.clients.value(number).map(|[program, namespace, name, of_process @ ..]| {
                let has_account = !namespace.is_empty() || !name.is_empty();
                let account = if has_account { Cow::Owned(format!("{namespace}/{name}")) } else { Cow::Borrowed("") };
                let of_process = self.client_labels.iter().filter_map(|label| of_process.get(label as usize));
                [Cow::Borrowed(&**program), account].into_iter().chain(of_process.map(|text| Cow::Borrowed(&**text))).collect()
            }),
            (Label::Resource, _) => {
                self.resources.value(number).map(|texts| texts.iter().map(|text| Cow::Borrowed(&**text)).collect())
            }
            (Label::Subresource, _) => self.subresources.value(number).map(|[text]| vec![Cow::Borrowed(&**text)]),
            (Label::Code, _) => {
                self.codes.value(number).map(|code| vec![if *code == 0 { Cow::Borrowed("") } else { Cow::Owned(code.to_string()) }])
            }
            (Label::Rule, _) => self.rules.get(number.index()).map(|rule| vec![Cow::Borrowed(rule.as_str())]),
            (label, _) => {
                let value = self.texts.get(&label).and_then(|values| values.value(number));
                value.map(|[text]| vec![Cow::Borrowed(&**text)])
            }
        };
        known.unwrap_or_else(|| self.names(row).map(|_name| Cow::Borrowed(OTHER)).collect())
    }
}

/// The number of a value that consists of texts. Longer texts are cut. Texts that are all `other` have no number of their own, because
/// no two label sets may have the same text.
fn texts<const N: usize>(values: &mut FirstCome<[Box<str>; N]>, texts: [&str; N]) -> ValueNumber {
    let texts = texts.map(|text| text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default());
    if texts.iter().all(|text| *text == OTHER) {
        return ValueNumber::OTHER;
    }
    values.number(texts, |known| known.each_ref().map(|text| &**text) == texts, || texts.map(Box::from))
}
