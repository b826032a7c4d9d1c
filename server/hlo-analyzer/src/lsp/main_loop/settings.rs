//! Settings: what follows when the user changes one.

use std::sync::Arc;
use std::time::Instant;

use ide::Device;
use serde_json::Value;
use tower_lsp::jsonrpc::Id;
use tower_lsp::lsp_types::notification::{DidChangeConfiguration, Notification as _, ShowMessage};
use tower_lsp::lsp_types::request::{
    CodeLensRefresh, InlayHintRefreshRequest, RegisterCapability, WorkspaceConfiguration,
};
use tower_lsp::lsp_types::{
    ConfigurationItem, ConfigurationParams, MessageType, Registration, RegistrationParams, ShowMessageParams,
    WorkspaceFoldersChangeEvent,
};

use super::MainLoop;
use crate::assembler::Assembler;
use crate::lsp::config::Settings;
use crate::lsp::jobs::Job;

/// The section of the client's settings.
const SECTION: &str = "hlo-analyzer";

impl MainLoop {
    /// Asks a client that sent no settings for them, and for the notification of their changes.
    pub(super) fn ask_for_settings_at_start(&mut self) {
        if self.session.client.registers_configuration {
            let registration = Registration {
                id: "hlo-analyzer-configuration".to_owned(),
                method: DidChangeConfiguration::METHOD.to_owned(),
                register_options: Some(serde_json::json!({"section": SECTION})),
            };
            let registrations = vec![registration];
            self.outbox.request_with::<RegisterCapability>(RegistrationParams { registrations });
        }
        if !self.session.has_sent_settings {
            self.ask_for_settings();
        }
    }

    fn ask_for_settings(&mut self) {
        if self.session.client.has_configuration {
            let items = vec![ConfigurationItem { scope_uri: None, section: Some(SECTION.to_owned()) }];
            let id = self.outbox.request_with::<WorkspaceConfiguration>(ConfigurationParams { items });
            self.asked_settings.insert(id);
        }
    }

    /// `workspace/didChangeConfiguration`: the settings, or the notice that the server is to ask for them.
    pub(super) fn configure_or_ask(&mut self, sent: &Value) {
        let is_empty = match sent {
            Value::Null => true,
            Value::Object(members) => members.is_empty(),
            Value::Array(elements) => elements.is_empty(),
            _ => false,
        };
        match is_empty {
            true => self.ask_for_settings(),
            false => self.configure(sent),
        }
    }

    /// The client's response to a request of the server.
    pub(super) fn answered(&mut self, id: &Id, result: Result<Value, Value>) {
        self.work_done.answered(id, &result, &self.outbox);
        let Id::String(id) = id else { return };
        if self.asked_settings.remove(id)
            && let Ok(Value::Array(mut sections)) = result
            && let Some(section) = sections.first_mut().filter(|section| section.is_object())
        {
            self.configure(&section.take());
        }
    }

    /// `workspace/didChangeWorkspaceFolders`: relative source paths are searched in the folders that are open, and dumps in them
    /// are watched.
    pub(super) fn folders_changed(&mut self, event: &WorkspaceFoldersChangeEvent) {
        let roots = &mut Arc::make_mut(&mut self.session).roots;
        let removed: Vec<_> = event.removed.iter().filter_map(|it| it.uri.to_file_path().ok()).collect();
        roots.retain(|root| !removed.contains(root));
        for added in event.added.iter().filter_map(|it| it.uri.to_file_path().ok()) {
            if !roots.contains(&added) {
                roots.push(added);
            }
        }
        self.watch_known();
    }

    pub(super) fn configure(&mut self, sent: &Value) {
        let settings = self.updated(&self.session.settings, sent);
        let old = std::mem::replace(&mut Arc::make_mut(&mut self.session).settings, settings);
        let new = &self.session.settings;
        let hints =
            |settings: &Settings| (settings.inlay_hints(), settings.optimizer_hints, settings.device.clone());
        if hints(&old) != hints(new) && self.session.client.inlay_hint_refresh {
            self.outbox.request::<InlayHintRefreshRequest>();
        }
        let lenses = |settings: &Settings| (settings.optimizer_lenses, settings.device.clone());
        if lenses(&old) != lenses(new) && self.session.client.code_lens_refresh {
            self.outbox.request::<CodeLensRefresh>();
        }
        let found = |settings: &Settings| {
            (
                (settings.diagnostics_limit, settings.warnings, settings.disabled_warnings.clone()),
                settings.unoptimized_hints,
                (settings.device.clone(), settings.coalescing_threshold.to_bits()),
            )
        };
        let device_changed = old.device != new.device;
        let finds_other = found(&old) != found(new);
        if finds_other {
            let now = Instant::now();
            self.documents
                .iter_mut()
                .for_each(|(_, document)| document.schedule(Job::Diagnostics).changed(now));
        }
        if device_changed || old.coalescing_threshold.to_bits() != new.coalescing_threshold.to_bits() {
            self.use_device();
        }
        if device_changed {
            let now = Instant::now();
            for (_, document) in self.documents.iter_mut() {
                document.forget_kernels();
                document.schedule(Job::Previews).at_once(now);
            }
        }
        if finds_other {
            self.refresh_diagnostics();
        }
        if old.text_limit != self.session.settings.text_limit {
            self.hold_back_or_take();
        }
        let programs = |settings: &Settings| (settings.assembles, settings.assembler.clone());
        if device_changed || programs(&old) != programs(&self.session.settings) {
            self.use_assembler();
            self.look_at_shown_kernels();
        }
    }

    /// These settings updated with what a client sent. For an unknown device the user gets a list of the known ones, and the device
    /// stays. It is checked before the settings are used, because a database that is filled anew takes it from them.
    pub(super) fn updated(&self, settings: &Settings, sent: &Value) -> Settings {
        let mut updated = settings.updated(sent);
        if let Err(unknown) = Device::find(&updated.device) {
            updated.device.clone_from(&settings.device);
            let message = format!("The setting hlo-analyzer.gpu.device: {unknown}");
            self.outbox.notify::<ShowMessage>(ShowMessageParams { typ: MessageType::ERROR, message });
        }
        updated
    }

    pub(super) fn use_assembler(&mut self) {
        let settings = &self.session.settings;
        let found = Some(&settings.assembler).filter(|_| settings.assembles).and_then(Assembler::find);
        self.session.kernels.set_assembler(found);
    }

    /// Schedules an update of all shown kernels, whose texts may have changed.
    pub(super) fn look_at_shown_kernels(&mut self) {
        let now = Instant::now();
        for file in self.session.kernels.files() {
            if let Some(document) = self.documents.get_mut(&file) {
                document.schedule(Job::Kernels).at_once(now);
            }
        }
    }

    /// Applies the device and the threshold of the settings.
    pub(super) fn use_device(&mut self) {
        let session = self.session.clone();
        self.interrupt_reads();
        self.guarded("setting the device", |host| session.settings.apply(host));
    }
}
