//! The files of the service managers, as text.

use std::path::Path;

/// The text that identifies herma's files.
pub(super) const MARK: &str = "Written by `herma service install`";

/// The properties of a service.
#[derive(Debug, Clone, Copy)]
pub(super) struct Service<'a> {
    /// The name of its files.
    pub name: &'a str,
    pub program: &'a Path,
    pub home: &'a Path,
    pub socket: &'a Path,
}

impl Service<'_> {
    /// Returns systemd's socket unit. The socket listens before the daemon runs.
    pub(super) fn socket_unit(&self) -> String {
        format!(
            "# {MARK}; `herma service uninstall` removes it.\n\
             [Unit]\n\
             Description=Socket of herma for {}\n\n\
             [Socket]\n\
             ListenStream={}\n\
             SocketMode=0600\n\
             DirectoryMode=0700\n\
             RemoveOnStop=yes\n\n\
             [Install]\n\
             WantedBy=sockets.target\n",
            specifier(self.home),
            specifier(self.socket)
        )
    }

    /// Returns systemd's service unit. The daemon may write wherever its user may, except in the system's folders,
    /// because stores can be links to anywhere. Programs that it starts, such as a summarizer, run under the same
    /// rules.
    pub(super) fn service_unit(&self) -> String {
        format!(
            "# {MARK}; `herma service uninstall` removes it.\n\
             [Unit]\n\
             Description=herma: memory, outputs and compression for agents, of {}\n\
             Requires={name}.socket\n\
             After={name}.socket\n\n\
             [Service]\n\
             Type=notify\n\
             ExecStart={} --home {} --socket {}\n\
             Restart=on-failure\n\
             RestartPreventExitStatus=2 3\n\
             TimeoutStopSec=30\n\
             UMask=0077\n\
             NoNewPrivileges=yes\n\
             ProtectSystem=full\n\
             LockPersonality=yes\n\
             RestrictRealtime=yes\n\
             RestrictSUIDSGID=yes\n\
             RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n\
             SystemCallArchitectures=native\n\n\
             [Install]\n\
             Also={name}.socket\n",
            specifier(self.home),
            word(self.program),
            word(self.home),
            word(self.socket),
            name = self.name,
        )
    }

    /// Returns launchd's property list, for macOS.
    pub(super) fn launchd(&self) -> String {
        let arguments = [self.program, Path::new("--home"), self.home, Path::new("--socket"), self.socket];
        let arguments: String =
            arguments.iter().map(|argument| format!("    <string>{}</string>\n", escaped(argument))).collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
             <!-- {MARK} -->\n\
             <plist version=\"1.0\">\n<dict>\n\
             \x20 <key>Label</key>\n  <string>{}</string>\n\
             \x20 <key>ProgramArguments</key>\n  <array>\n{arguments}  </array>\n\
             \x20 <key>RunAtLoad</key>\n  <true/>\n\
             \x20 <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n\
             \x20 <key>ProcessType</key>\n  <string>Background</string>\n\
             \x20 <key>Umask</key>\n  <integer>63</integer>\n\
             </dict>\n</plist>\n",
            self.label()
        )
    }

    /// Returns launchd's name for the service.
    pub(super) fn label(&self) -> String {
        format!("dev.{}.daemon", self.name)
    }
}

/// Escapes a path for a unit, where a percent sign begins a specifier.
fn specifier(path: &Path) -> String {
    path.display().to_string().replace('%', "%%")
}

/// Quotes a path as a word of a command line in a unit.
fn word(path: &Path) -> String {
    let text = specifier(path).replace('\\', "\\\\").replace('"', "\\\"").replace('$', "$$");
    format!("\"{text}\"")
}

/// Escapes a path for XML.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Service<'static> {
        Service {
            name: "herma",
            program: Path::new("/opt/my \"tools\"/hermad"),
            home: Path::new("/home/a b/100%/<x>"),
            socket: Path::new("/run/$x/s"),
        }
    }

    #[test]
    fn odd_paths_stay_one_word() {
        let unit = service().service_unit();
        let start =
            "ExecStart=\"/opt/my \\\"tools\\\"/hermad\" --home \"/home/a b/100%%/<x>\" --socket \"/run/$$x/s\"\n";
        assert!(unit.contains(start), "{unit}");
        assert!(service().socket_unit().contains("ListenStream=/run/$x/s\n"));
        assert!(service().launchd().contains("<string>/home/a b/100%/&lt;x&gt;</string>"));
    }

    #[test]
    fn every_file_says_whose_it_is() {
        for text in [service().service_unit(), service().socket_unit(), service().launchd()] {
            assert!(text.contains(MARK), "{text}");
        }
    }
}
