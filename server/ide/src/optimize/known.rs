//! Previews and planned kernels of the texts that were asked about last.
//!
//! They are computed apart from the database, by passes and by an analysis of the text that these write, and depend on nothing but
//! one text, the device and the passes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use db::TextVersion;

use super::planned::PlannedKernels;
use super::preview::Preview;
use super::rewrites::Rewrites;
use super::source::SourceModule;
use super::{NotOptimized, OptimizeRequest};
use crate::file_context::FileContext;

/// What is kept. Owned by the host and shared with its snapshots.
///
/// Size: [`MAX`] previews of about four times the text each, as many plans of about 300 bytes per kernel, as many lists of
/// rewrites, and [`MAX_SOURCES`] modules.
#[derive(Default)]
pub(crate) struct KnownOptimized {
    previews: Mutex<VecDeque<(Key, Known<Preview>)>>,
    planned: Mutex<VecDeque<(Key, Known<PlannedKernels>)>>,
    rewrites: Mutex<VecDeque<(Key, Known<Rewrites>)>>,
    sources: Mutex<VecDeque<(Key, Known<SourceModule>)>>,
}

type Known<T> = Result<Arc<T>, NotOptimized>;

/// More than the previews that a user looks at.
const MAX: usize = 8;
/// Modules to edit take about ten times as much memory as their text.
const MAX_SOURCES: usize = 2;

#[derive(Clone)]
struct Key {
    /// Kept alive, so that no later version has its address.
    text: Arc<TextVersion>,
    device: &'static gpu::Device,
    request: OptimizeRequest,
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        Arc::ptr_eq(&self.text, &other.text)
            && std::ptr::eq(self.device, other.device)
            && self.request == other.request
    }
}

impl Key {
    fn new(context: &FileContext<'_>, request: &OptimizeRequest) -> Key {
        let file = context.view.file;
        Key {
            text: db::text_version(context.db, file).clone(),
            device: context.db.device_of(file),
            request: request.clone(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn get_or_make<T>(
    known: &Mutex<VecDeque<(Key, Known<T>)>>,
    max: usize,
    key: Key,
    make: impl FnOnce() -> Result<T, NotOptimized>,
) -> Known<T> {
    if let Some((_, found)) = lock(known).iter().find(|(known, _)| *known == key) {
        return found.clone();
    }
    // Without the lock: it takes long, and may unwind.
    let made = make().map(Arc::new);
    // What a cancelled analysis says is not kept.
    cancel::check();
    let mut known = lock(known);
    known.retain(|(other, _)| *other != key);
    known.push_back((key, made.clone()));
    if known.len() > max {
        known.pop_front();
    }
    made
}

impl KnownOptimized {
    pub(crate) fn preview(&self, context: &FileContext<'_>, request: &OptimizeRequest) -> Known<Preview> {
        get_or_make(&self.previews, MAX, Key::new(context, request), || Preview::new(context, request))
    }

    /// The module to edit.
    pub(crate) fn source(&self, context: &FileContext<'_>) -> Known<SourceModule> {
        let key = Key::new(context, &OptimizeRequest::default());
        get_or_make(&self.sources, MAX_SOURCES, key, || SourceModule::of(context))
    }

    /// What local passes would do.
    pub(crate) fn rewrites(&self, context: &FileContext<'_>) -> Known<Rewrites> {
        let key = Key::new(context, &OptimizeRequest::default());
        get_or_make(&self.rewrites, MAX, key, || Rewrites::new(context))
    }

    /// The kernels that a module would become.
    pub(crate) fn planned(&self, context: &FileContext<'_>) -> Known<PlannedKernels> {
        let key = Key::new(context, &OptimizeRequest::default());
        get_or_make(&self.planned, MAX, key, || PlannedKernels::new(context, self))
    }
}
