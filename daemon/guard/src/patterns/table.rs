//! The threat patterns, in the order in which they are reported.

use super::Gap::{Letters, Line, Tag, Text, Words};
use super::Pattern;
use crate::Scope::{All, Context, Strict};

/// Every pattern; a finding's place among others follows from its place here.
pub(super) static PATTERNS: [Pattern; 36] = [
    Pattern::new("prompt_injection", All, Words, &["ignore", "previous|all|above|prior", "instructions"]),
    Pattern::new("sys_prompt_override", All, Words, &["system prompt override"]),
    Pattern::new("disregard_rules", All, Words, &["disregard", "your|all|any", "instructions|rules|guidelines"]),
    Pattern::new(
        "bypass_restrictions",
        All,
        Words,
        &["act as (if|though)", "you", "have no|don't have|don\u{83}t have", "restrictions|limits|rules"],
    ),
    Pattern::new("html_comment_injection", All, Tag, &["<!--", "ignore|override|system|secret|hidden", "-->"]),
    Pattern::new("hidden_div", All, Text, &[r#"<\s*div style\s*=\s*["']"#, r"display\s*:\s*none"]),
    Pattern::new("translate_execute", All, Line, &[r"translate\h", r"\hinto\h", r"\hand\h+(execute|run|eval)"]),
    Pattern::new("deception_hide", All, Words, &["do not", "tell", "the user"]),
    Pattern::new("role_hijack", Context, Words, &["you are", r"now (a|an|the)\s"]),
    Pattern::new("role_pretend", Context, Words, &["pretend", r"(you are|to be)\s"]),
    Pattern::new("leak_system_prompt", Context, Words, &["output", "(system|initial) prompt"]),
    Pattern::new(
        "remove_filters",
        Context,
        Words,
        &["(respond|answer|reply) without", "restrictions|limitations|filters|safety"],
    ),
    Pattern::new("fake_update", Context, Words, &["you have been", "(updated|upgraded|patched) to"]),
    Pattern::new("identity_override", Context, Words, &[r"\<name yourself \w+"]),
    Pattern::new("c2_node_registration", Context, Words, &["register (as |)(a |)node"]),
    Pattern::new("c2_heartbeat", Context, Words, &[r"(heartbeat|beacon|check-in|check in|checkin) (to|with)\s"]),
    Pattern::new("c2_task_pull", Context, Words, &[r"pull (down |)(new |)(tasking|tasks|task)\>"]),
    Pattern::new("c2_network_connect", Context, Words, &[r"connect to the network\>"]),
    Pattern::new("forced_action", Context, Words, &[r"you must {~register\>|connect\>|report\>|beacon\>}"]),
    Pattern::new("anti_forensic_oneliner", Context, Words, &["only use one{-| |}liner{s|}"]),
    Pattern::new("anti_forensic_disk", Context, Words, &["never", "create|write", "script|file", "disk"]),
    Pattern::new(
        "env_var_unset_agent",
        Context,
        Letters,
        &["unset ", r"(claude|codex|hermes|agent|openai|anthropic)\w*"],
    ),
    Pattern::new("known_c2_framework", Context, Words, &[KNOWN_FRAMEWORK]),
    Pattern::new("c2_explicit", Context, Words, &[r"\<c2 (server|channel|infrastructure|beacon)\>"]),
    Pattern::new("c2_explicit_long", Context, Words, &[r"\<command and control\>"]),
    Pattern::new("exfil_curl", All, Line, &[r"curl\h", SECRET_VARIABLE]),
    Pattern::new("exfil_wget", All, Line, &[r"wget\h", SECRET_VARIABLE]),
    Pattern::new("read_secrets", All, Line, &[r"cat\h", ".env|credentials|.netrc|.pgpass|.npmrc|.pypirc"]),
    Pattern::new("send_to_url", Strict, Line, &[r"(send|post|upload|transmit)\h", r"\h(to|at)\h+(http|https)://"]),
    Pattern::new(
        "context_exfil",
        Strict,
        Words,
        &["include|output|print|share", "conversation|chat history|previous messages|full context|entire context"],
    ),
    Pattern::new("ssh_backdoor", Strict, Words, &["authorized_keys"]),
    Pattern::new("ssh_access", Strict, Words, &["($HOME|~)/.ssh"]),
    Pattern::new("hermes_env", Strict, Words, &["($HOME|~)/.hermes/.env"]),
    Pattern::new("agent_config_mod", Strict, Line, &[CHANGE, "agents.md|claude.md|.cursorrules|.clinerules"]),
    Pattern::new("hermes_config_mod", Strict, Line, &[CHANGE, ".hermes/(config.yaml|soul.md)"]),
    Pattern::new(
        "hardcoded_secret",
        Strict,
        Words,
        &[r#"(api(_|-|)key|token|secret|password)\s*[=:]\s*["'][A-Za-z0-9+/=_-]{20,}"#],
    ),
];

/// A variable that holds a secret by its name.
const SECRET_VARIABLE: &str = r"\$(key|token|secret|password|credential|api)";

/// The verbs for changing a file.
const CHANGE: &str = r"(update|modify|edit|write|change|append|add\h+to)\h";

/// The frameworks by name. Four names are everyday words, which count beside a word for software
/// or as the whole object of a verb: "a sliver of ginger", "mythic creatures" and a doctor's
/// praxis pass, "deploy sliver to the host" and "the praxis server" do not.
const KNOWN_FRAMEWORK: &str = concat!(
    r"\<(cobalt\s*strike|metasploit|brainworm)\>",
    r"|\<(praxis|havoc|mythic|sliver)[\s/-]+{framework|beacon|implant|agent|server|payload|c2}{s|}\>",
    r#"|\<{framework|beacon|implant|agent|server|payload|c2}{s|}[\s/("'`:-]+(praxis|havoc|mythic|sliver)\>"#,
    r"|\<{use|uses|used|using|run|runs|ran|running|load|loads|loaded|loading|deploy|deploys|deployed|deploying",
    r"|(connect|connects|connected|connecting)( to| with|)}",
    r#"{ the|} {["'`]|}(praxis|havoc|mythic|sliver)"#,
    r#"{=\s*{\z|[.,;:!?()\[\]"'`]}|\h*"#,
    "\n",
    r"|\h+-| {and\>|or\>|to\>|as\>|for\>|from\>|with\>|on\>|onto\>|in\>|into\>|at\>|via\>|over\>|across\>|against\>|by\>|then\>|now\>|instead\>",
    r"|when\>|while\>|until\>|before\>|after\>|if\>|because\>|but\>|so\>|once\>|again\>|today\>|tonight\>|tomorrow\>|daily\>|here\>|there\>",
    r"|locally\>|remotely\>|network\>|node\>}}",
);
