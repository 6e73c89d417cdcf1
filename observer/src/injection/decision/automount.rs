//! Whether admission would mount a token of the pod's ServiceAccount into its containers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::decide::Subject;
use crate::injection::options::Options;

/// The service accounts of the input: namespace and name, and whether tokens are mounted.
#[derive(Clone, Debug, Default)]
pub(in crate::injection) struct ServiceAccounts(BTreeMap<(Option<String>, String), bool>);

/// Where a pod without a mount of its own gets its token from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Admission mounts one.
    Mounted,
    /// The pod wants none.
    Withheld,
    WithheldByAccount {
        account: String,
    },
    /// The ServiceAccount is not in the input.
    Unknown {
        account: String,
    },
}

impl ServiceAccounts {
    /// Takes the service accounts of a document.
    pub(in crate::injection) fn learn(&mut self, document: &Value) {
        if let Some(Value::Array(items)) = document.get("items") {
            for item in items {
                self.learn_one(item);
            }
        }
        self.learn_one(document);
    }

    fn learn_one(&mut self, object: &Value) {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        if (text("/apiVersion"), text("/kind")) != (Some("v1"), Some("ServiceAccount")) {
            return;
        }
        let Some(name) = text("/metadata/name") else { return };
        let mounts = object.get("automountServiceAccountToken") != Some(&Value::Bool(false));
        self.0.insert((text("/metadata/namespace").map(str::to_owned), name.to_owned()), mounts);
    }

    fn mounts(&self, namespace: Option<&str>, name: &str) -> Option<bool> {
        self.0.get(&(namespace.map(str::to_owned), name.to_owned())).copied()
    }
}

/// The pod's own setting counts before that of its ServiceAccount.
pub(super) fn token(subject: &Subject<'_>, options: &Options, accounts: &ServiceAccounts) -> Token {
    let spec = subject.spec();
    match spec.get("automountServiceAccountToken") {
        Some(Value::Bool(true)) => return Token::Mounted,
        Some(Value::Bool(false)) => return Token::Withheld,
        Some(_) | None => {}
    }
    if options.service_account_token {
        return Token::Mounted;
    }
    let account = ["serviceAccountName", "serviceAccount"].iter().find_map(|key| spec.get(key).and_then(Value::as_str));
    let account = account.filter(|account| !account.is_empty()).unwrap_or("default").to_owned();
    match accounts.mounts(subject.namespace(), &account) {
        Some(true) => Token::Mounted,
        Some(false) => Token::WithheldByAccount { account },
        None => Token::Unknown { account },
    }
}

impl Token {
    pub(super) fn warning(&self) -> Option<String> {
        match self {
            Self::Unknown { account } => Some(format!(
                "ServiceAccount {account} is not in the input: if it sets automountServiceAccountToken: false, the pod now gets a token \
                 that it withheld; pass both together to check, or --service-account-token to accept"
            )),
            Self::Mounted | Self::Withheld | Self::WithheldByAccount { .. } => None,
        }
    }
}
