//! The kinds of secrets, and counts of them.

/// A kind of secret, by the form that gives it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretKind {
    /// A key with a prefix of its service, such as `ghp_`.
    Key,
    /// A value that is assigned to a name, such as `API_KEY=…`.
    Assignment,
    /// A value of a JSON field, such as `"password": …`.
    Field,
    /// The token of an `Authorization` header.
    Bearer,
    /// The token of a Telegram bot.
    BotToken,
    /// A private key in PEM form.
    PrivateKey,
    /// The password in the address of a database.
    Password,
    /// A JSON web token.
    Jwt,
    /// A field of a form or of an address's query.
    FormField,
    /// A random value under a name that ends like one of a secret.
    NamedValue,
    /// A telephone number.
    Phone,
    /// The rest of a secret that was masked before.
    MaskedBefore,
    /// A part that a person marked as private.
    Private,
}

impl SecretKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::Key,
        Self::Assignment,
        Self::Field,
        Self::Bearer,
        Self::BotToken,
        Self::PrivateKey,
        Self::Password,
        Self::Jwt,
        Self::FormField,
        Self::NamedValue,
        Self::Phone,
        Self::MaskedBefore,
        Self::Private,
    ];

    /// Returns the kind's name, for people and machines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Assignment => "assignment",
            Self::Field => "json field",
            Self::Bearer => "bearer token",
            Self::BotToken => "bot token",
            Self::PrivateKey => "private key",
            Self::Password => "database password",
            Self::Jwt => "json web token",
            Self::FormField => "form field",
            Self::NamedValue => "named value",
            Self::Phone => "phone number",
            Self::MaskedBefore => "masked before",
            Self::Private => "private part",
        }
    }
}

/// How many secrets of each kind were masked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SecretCounts([usize; SecretKind::ALL.len()]);

impl SecretCounts {
    /// Counts some more of a kind.
    pub const fn add(&mut self, kind: SecretKind, count: usize) {
        let at = kind as usize;
        self.0[at] = self.0[at].saturating_add(count);
    }

    /// Adds the counts of another text.
    pub fn add_all(&mut self, other: &Self) {
        other.iter().for_each(|(kind, count)| self.add(kind, count));
    }

    /// Returns the kinds of which there is at least one, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (SecretKind, usize)> + '_ {
        SecretKind::ALL.into_iter().map(|kind| (kind, self.0[kind as usize])).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_by_their_place() {
        let mut counts = SecretCounts::default();
        for (number, kind) in SecretKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            counts.add(kind, number);
        }
        counts.add_all(&counts.clone());
        assert_eq!(
            counts.iter().map(|(_, count)| count).collect::<Vec<_>>(),
            (1..SecretKind::ALL.len()).map(|n| 2 * n).collect::<Vec<_>>()
        );
    }
}
