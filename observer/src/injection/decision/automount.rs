//! Whether admission would mount a token of the pod's ServiceAccount into its containers.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::decide::Subject;
use super::referenced::may_share_namespace;
use crate::injection::options::{Options, Seen};

/// The service accounts of the input.
#[derive(Clone, Debug, Default)]
pub(super) struct ServiceAccounts {
    /// Whether tokens of each account are mounted.
    mounts: BTreeMap<Account, bool>,
}

/// A ServiceAccount.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Account {
    /// As far as the manifest names it.
    namespace: Option<String>,
    name: String,
}

/// Where a pod without a mount of its own gets its token from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Admission mounts one.
    Mounted,
    /// The pod wants none.
    Withheld,
    /// Admission has mounted none.
    NotMounted,
    WithheldByAccount(Account),
    /// The ServiceAccount is not in the input.
    Unknown(Account),
}

impl ServiceAccounts {
    /// Takes an object, if it is a ServiceAccount.
    pub(super) fn learn(&mut self, object: &Value) {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        if (text("/apiVersion"), text("/kind")) != (Some("v1"), Some("ServiceAccount")) {
            return;
        }
        let Some(name) = text("/metadata/name") else { return };
        let mounts = object.get("automountServiceAccountToken") != Some(&Value::Bool(false));
        self.mounts.insert(Account::new(text("/metadata/namespace"), name), mounts);
    }

    /// Whether tokens of an account are mounted.
    fn mounts(&self, account: &Account) -> Option<bool> {
        let is_same = |known: &Account| {
            known.name == account.name && may_share_namespace(known.namespace.as_deref(), account.namespace.as_deref())
        };
        let settings = self.mounts.iter().filter(|(known, _)| is_same(known)).map(|(_, mounts)| *mounts);
        self.mounts.get(account).copied().or_else(|| settings.reduce(|one, other| one && other))
    }
}

impl Account {
    fn new(namespace: Option<&str>, name: &str) -> Self {
        Self { namespace: namespace.map(str::to_owned), name: name.to_owned() }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.namespace.iter().try_for_each(|namespace| write!(f, "{namespace}/"))?;
        f.write_str(&self.name)
    }
}

/// A token that the user has agreed to counts first, also that of an earlier injection. The pod's own setting counts before that of
/// its ServiceAccount. After admission, neither of them matters.
pub(super) fn token(subject: &Subject<'_>, options: &Options) -> Token {
    if options.seen == Seen::AtAdmission {
        return Token::NotMounted;
    }
    if options.service_account_token || subject.had_token {
        return Token::Mounted;
    }
    let spec = subject.spec();
    match spec.get("automountServiceAccountToken") {
        Some(Value::Bool(true)) => return Token::Mounted,
        Some(Value::Bool(false)) => return Token::Withheld,
        Some(_) | None => {}
    }
    let account = ["serviceAccountName", "serviceAccount"].iter().find_map(|key| spec.get(key).and_then(Value::as_str));
    let account = Account::new(subject.namespace, account.filter(|account| !account.is_empty()).unwrap_or("default"));
    match subject.referenced.accounts.mounts(&account) {
        Some(true) => Token::Mounted,
        Some(false) => Token::WithheldByAccount(account),
        None if options.assume_token => Token::Mounted,
        None => Token::Unknown(account),
    }
}
