//! Global memory: buffers whose pages are allocated on first access.

use std::collections::BTreeMap;

use super::names::{FIRST_CONSTANT, GLOBAL};

pub(crate) const PAGE: u64 = 4096;

/// The pages of a buffer that are kept in a list.
const NEAR: usize = 1 << 20;

/// Writes the contents from an offset on.
pub type Fill<'a> = dyn Fn(u64, &mut [u8]) + 'a;

/// The initial contents of a buffer.
pub enum Contents<'a> {
    /// None: reading it is a finding.
    Unknown,
    /// A function of the offset.
    Known(Box<Fill<'a>>),
}

/// Buffers in global memory. Holds at most the bytes passed to [`Memory::new`], whatever the sizes of the
/// buffers.
pub struct Memory<'a> {
    buffers: Vec<Buffer<'a>>,
    constants: Vec<Buffer<'a>>,
    pages_left: u64,
}

struct Buffer<'a> {
    size: u64,
    contents: Contents<'a>,
    pages: Vec<Option<Box<Page>>>,
    /// Pages from [`NEAR`] on, stored sparsely.
    far: BTreeMap<usize, Box<Page>>,
}

pub(crate) struct Page {
    pub(crate) bytes: [u8; PAGE as usize],
    /// One bit per byte that a thread wrote.
    written: [u64; PAGE as usize / 64],
    is_known: bool,
}

/// Why an access fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// No buffer has that address; holds the number of the buffer that the access overruns, if any, and its
    /// size.
    Outside(Option<(usize, u64)>),
    TooMuch,
}

impl<'a> Memory<'a> {
    /// `limit` is the number of bytes of pages that may be allocated.
    pub fn new(limit: u64) -> Memory<'a> {
        Memory { buffers: Vec::new(), constants: Vec::new(), pages_left: limit / PAGE }
    }

    /// Adds a buffer of `size` bytes and returns its number.
    pub fn add(&mut self, size: u64, contents: Contents<'a>) -> usize {
        self.buffers.push(Buffer::new(size, contents));
        self.buffers.len() - 1
    }

    pub(crate) fn set_constants(&mut self, constants: &[super::program::Constant]) {
        let known = |bytes: Vec<u8>| {
            let fill = move |offset: u64, page: &mut [u8]| {
                let from = bytes.get(offset as usize..).unwrap_or(&[]);
                let len = from.len().min(page.len());
                page[..len].copy_from_slice(&from[..len]);
            };
            Contents::Known(Box::new(fill))
        };
        let buffer = |c: &super::program::Constant| Buffer::new(c.bytes.len() as u64, known(c.bytes.clone()));
        self.constants = constants.iter().map(buffer).collect();
    }

    /// The address of a buffer's first byte, aligned to more than any access needs.
    pub fn address(&self, buffer: usize) -> u64 {
        GLOBAL * (buffer as u64 + 1)
    }

    pub fn size(&self, buffer: usize) -> u64 {
        self.buffers.get(buffer).map_or(0, |b| b.size)
    }

    /// The buffer that contains an address, and the offset in it; `None` for the module's own variables.
    pub(crate) fn place(&self, address: u64) -> Option<(usize, u64)> {
        let number = (address / GLOBAL).checked_sub(1)? as usize;
        let buffer = self.buffers.get(number)?;
        let offset = address % GLOBAL;
        (offset < buffer.size).then_some((number, offset))
    }

    fn buffer(&mut self, address: u64) -> Option<(&mut Buffer<'a>, usize)> {
        let number = address / GLOBAL;
        if number >= FIRST_CONSTANT {
            let index = (number - FIRST_CONSTANT) as usize;
            return self.constants.get_mut(index).map(|b| (b, usize::MAX));
        }
        let index = number.checked_sub(1)? as usize;
        self.buffers.get_mut(index).map(|b| (b, index))
    }

    /// The page of `len` bytes at `address`, and the offset in it. The address must be aligned to a power of
    /// two not below `len`.
    #[inline]
    pub(crate) fn page(&mut self, address: u64, len: u64) -> Result<(&mut Page, usize), Refused> {
        let left = self.pages_left;
        let offset = address % GLOBAL;
        let Some((buffer, number)) = self.buffer(address) else { return Err(Refused::Outside(None)) };
        if offset.checked_add(len).is_none_or(|end| end > buffer.size) {
            return Err(Refused::Outside((number != usize::MAX).then_some((number, buffer.size))));
        }
        let at = (offset % PAGE) as usize;
        if at as u64 + len > PAGE {
            return Err(Refused::Outside(None));
        }
        let page = (offset / PAGE) as usize;
        if buffer.page(page).is_none() {
            if left == 0 {
                return Err(Refused::TooMuch);
            }
            buffer.create(page);
            self.pages_left -= 1;
            return self.page(address, len);
        }
        let Some((buffer, _)) = self.buffer(address) else { return Err(Refused::Outside(None)) };
        let found = if page < NEAR {
            buffer.pages.get_mut(page).and_then(Option::as_deref_mut)
        } else {
            buffer.far.get_mut(&page).map(Box::as_mut)
        };
        match found {
            Some(found) => Ok((found, at)),
            None => Err(Refused::TooMuch),
        }
    }

    /// Reads the current bytes of a buffer; `Err` with the first offset that is uninitialised.
    pub fn read(&self, buffer: usize, offset: u64, bytes: &mut [u8]) -> Result<(), u64> {
        let Some(buffer) = self.buffers.get(buffer) else { return Err(offset) };
        for (i, byte) in bytes.iter_mut().enumerate() {
            let at = offset + i as u64;
            let page = buffer.page((at / PAGE) as usize);
            match (page, &buffer.contents) {
                (Some(page), _) if page.knows((at % PAGE) as usize, 1) => {
                    *byte = page.bytes[(at % PAGE) as usize]
                }
                (None, Contents::Known(fill)) if at < buffer.size => fill(at, std::slice::from_mut(byte)),
                _ => return Err(at),
            }
        }
        Ok(())
    }

    /// Calls `f` with each range of bytes of a buffer that threads wrote, in order.
    pub fn for_each_written(&self, buffer: usize, mut f: impl FnMut(u64, &[u8])) {
        let Some(buffer) = self.buffers.get(buffer) else { return };
        let near =
            buffer.pages.iter().enumerate().filter_map(|(number, page)| Some((number, page.as_ref()?)));
        for (number, page) in near.chain(buffer.far.iter().map(|(number, page)| (*number, page))) {
            let mut at = 0;
            while at < PAGE as usize {
                if at.is_multiple_of(64) && page.written[at / 64] == 0 {
                    at += 64;
                    continue;
                }
                let start = at;
                while at < PAGE as usize && page.written[at / 64] >> (at % 64) & 1 == 1 {
                    at += 1;
                }
                if at > start {
                    f(number as u64 * PAGE + start as u64, &page.bytes[start..at]);
                } else {
                    at += 1;
                }
            }
        }
    }
}

impl<'a> Buffer<'a> {
    fn new(size: u64, contents: Contents<'a>) -> Buffer<'a> {
        Buffer { size: size.min(GLOBAL - PAGE), contents, pages: Vec::new(), far: BTreeMap::new() }
    }

    fn create(&mut self, number: usize) {
        let is_known = matches!(self.contents, Contents::Known(_));
        let mut page =
            Box::new(Page { bytes: [0; PAGE as usize], written: [0; PAGE as usize / 64], is_known });
        if let Contents::Known(fill) = &self.contents {
            let start = number as u64 * PAGE;
            let len = PAGE.min(self.size - start) as usize;
            fill(start, &mut page.bytes[..len]);
        }
        if number >= NEAR {
            self.far.insert(number, page);
            return;
        }
        if self.pages.len() <= number {
            self.pages.resize_with(number + 1, || None);
        }
        self.pages[number] = Some(page);
    }

    fn page(&self, number: usize) -> Option<&Page> {
        match number < NEAR {
            true => self.pages.get(number)?.as_deref(),
            false => self.far.get(&number).map(Box::as_ref),
        }
    }
}

impl Page {
    #[inline]
    fn bits(len: usize) -> u64 {
        if len >= 64 { u64::MAX } else { (1 << len) - 1 }
    }

    /// Whether the whole page is initialised.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.is_known
    }

    /// Whether `len` bytes (a power of two, aligned to it) are initialised.
    #[inline]
    pub(crate) fn knows(&self, at: usize, len: usize) -> bool {
        self.is_known || self.written[at / 64] >> (at % 64) & Self::bits(len) == Self::bits(len)
    }

    #[inline]
    pub(crate) fn mark(&mut self, at: usize, len: usize) {
        self.written[at / 64] |= Self::bits(len) << (at % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_as_they_are_touched() {
        let mut memory = Memory::new(2 * PAGE);
        let known = memory.add(
            1 << 36,
            Contents::Known(Box::new(|offset, bytes| {
                for (i, byte) in bytes.iter_mut().enumerate() {
                    *byte = (offset + i as u64) as u8;
                }
            })),
        );
        let fresh = memory.add(100, Contents::Unknown);
        let address = memory.address(known);
        let (page, at) = memory.page(address + (1 << 35) + 8, 4).unwrap();
        assert_eq!(page.bytes[at..at + 4], [8, 9, 10, 11]);
        let address = memory.address(fresh);
        let (page, at) = memory.page(address + 96, 4).unwrap();
        assert!(!page.knows(at, 4));
        page.bytes[at..at + 4].fill(7);
        page.mark(at, 4);
        assert!(page.knows(at, 4));
        let mut seen = Vec::new();
        memory.for_each_written(fresh, |offset, bytes| seen.push((offset, bytes.to_vec())));
        assert_eq!(seen, [(96, vec![7; 4])]);
        assert_eq!(memory.read(fresh, 92, &mut [0; 8]), Err(92));
        assert_eq!(memory.page(address + 100, 1).err(), Some(Refused::Outside(Some((fresh, 100)))));
        assert_eq!(memory.page(0, 1).err(), Some(Refused::Outside(None)));
        let far = memory.address(known);
        assert_eq!(memory.page(far, 1).err(), Some(Refused::TooMuch));
    }
}
