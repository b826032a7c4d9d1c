//! The server for HLO and MLIR in Zed: the program that the settings name, or the one on PATH.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{
    Command, Extension, LanguageServerId, Result, Worktree, register_extension, serde_json,
};

const SERVER: &str = "hlo-analyzer";

struct HloAnalyzer;

impl Extension for HloAnalyzer {
    fn new() -> Self {
        HloAnalyzer
    }

    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let binary = LspSettings::for_worktree(SERVER, worktree)?.binary;
        let (path, arguments, env) = match binary {
            Some(binary) => (binary.path, binary.arguments, binary.env),
            None => (None, None, None),
        };
        Ok(Command {
            command: program(path, worktree.which(SERVER))?,
            args: arguments.unwrap_or_default(),
            env: env.map_or_else(|| worktree.shell_env(), |env| env.into_iter().collect()),
        })
    }

    fn language_server_initialization_options(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        let settings = LspSettings::for_worktree(SERVER, worktree)?;
        Ok(settings.initialization_options.or(settings.settings))
    }

    fn language_server_workspace_configuration(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(SERVER, worktree)?.settings.map(configuration))
    }
}

/// The program that the settings name, else that on PATH.
fn program(named: Option<String>, on_path: Option<String>) -> Result<String> {
    named.or(on_path).ok_or_else(|| {
        "hlo-analyzer is not on PATH: `pip install hlo-analyzer`, or name the program in the settings: \
         \"lsp\": {\"hlo-analyzer\": {\"binary\": {\"path\": \"…\"}}}"
            .to_owned()
    })
}

/// The settings as the server asks for them: by its name.
fn configuration(settings: serde_json::Value) -> serde_json::Value {
    serde_json::json!({ SERVER: settings })
}

register_extension!(HloAnalyzer);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_the_settings_comes_first() {
        let some = |path: &str| Some(path.to_owned());
        assert_eq!(program(some("/own"), some("/usr/bin/hlo-analyzer")), Ok("/own".to_owned()));
        assert_eq!(program(None, some("/usr/bin/hlo-analyzer")), Ok("/usr/bin/hlo-analyzer".to_owned()));
        let missing = program(None, None).unwrap_err();
        assert!(missing.starts_with("hlo-analyzer is not on PATH: `pip install hlo-analyzer`"), "{missing}");
    }

    #[test]
    fn settings_are_sent_under_the_name_of_the_server() {
        let settings = serde_json::json!({ "gpu": { "device": "h100-sxm" } });
        assert_eq!(configuration(settings)["hlo-analyzer"]["gpu"]["device"], "h100-sxm");
    }
}
