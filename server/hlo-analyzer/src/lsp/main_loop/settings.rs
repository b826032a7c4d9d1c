//! Settings: what follows when the user changes one.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tower_lsp::lsp_types::notification::ShowMessage;
use tower_lsp::lsp_types::request::{CodeLensRefresh, InlayHintRefreshRequest};
use tower_lsp::lsp_types::{MessageType, ShowMessageParams};

use super::MainLoop;
use crate::assembler::Assembler;
use crate::lsp::config::Settings;
use crate::lsp::jobs::Job;

impl MainLoop {
    pub(super) fn configure(&mut self, sent: &Value) {
        let settings = self.session.settings.updated(sent);
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
        if found(&old) != found(new) {
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
        let programs = |settings: &Settings| (settings.assembles, settings.assembler.clone());
        if device_changed || programs(&old) != programs(&self.session.settings) {
            self.use_assembler();
            self.look_at_shown_kernels();
        }
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

    /// Applies the device and the threshold of the settings. For an unknown name the user gets a list of the known ones.
    pub(super) fn use_device(&mut self) {
        let name = self.session.settings.device.clone();
        let threshold = self.session.settings.coalescing_threshold;
        self.interrupt_reads();
        let set = self.guarded("setting the device", |host| {
            host.set_coalescing_threshold(threshold);
            host.set_device(&name)
        });
        if let Some(Err(message)) = set {
            let message = format!("The setting hlo-analyzer.gpu.device: {message}");
            self.outbox.notify::<ShowMessage>(ShowMessageParams { typ: MessageType::ERROR, message });
        }
    }
}
