//! The primitive encodings: bytes, variable-length integers, lists.

use crate::{Error, Result};

/// Reads a part of the file from front to back.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// The place of `rest` in the file.
    offset: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], offset: usize) -> Self {
        Self { rest: bytes, offset }
    }

    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Error { offset: self.offset, message: message.into() })
    }

    pub(crate) fn byte(&mut self) -> Result<u8> {
        Ok(self.bytes(1)?[0])
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let Some((bytes, rest)) = self.rest.split_at_checked(len) else {
            return self.error(format!(
                "{len} bytes are expected and {} are left: the file is truncated or damaged; copy it again",
                self.rest.len()
            ));
        };
        (self.rest, self.offset) = (rest, self.offset + len);
        Ok(bytes)
    }

    /// The bytes up to a zero, which is skipped.
    pub(crate) fn zero_terminated(&mut self) -> Result<&'a [u8]> {
        match self.rest.iter().position(|&byte| byte == 0) {
            Some(end) => {
                let bytes = self.bytes(end)?;
                self.byte()?;
                Ok(bytes)
            }
            None => self.error("a string has no end: the file is truncated or damaged; copy it again"),
        }
    }

    /// The number of zeros at the start of the first byte says how many bytes follow.
    pub(crate) fn number(&mut self) -> Result<u64> {
        let first = self.byte()?;
        if first == 0 {
            let bytes = self.bytes(8)?;
            return Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)));
        }
        let more = first.trailing_zeros() as usize;
        let bytes = self.bytes(more)?;
        let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        Ok((value << 8 | u64::from(first)) >> (more + 1))
    }

    /// A number whose lowest bit is a flag.
    pub(crate) fn flagged(&mut self) -> Result<(u64, bool)> {
        let number = self.number()?;
        Ok((number >> 1, number & 1 == 1))
    }

    /// A number in the zigzag form: the sign is the lowest bit.
    pub(crate) fn signed(&mut self) -> Result<i64> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// A number of items that take at least a byte each.
    pub(crate) fn count(&mut self) -> Result<usize> {
        let at = *self;
        let count = self.number()?;
        match usize::try_from(count).ok().filter(|count| *count <= self.rest.len()) {
            Some(count) => Ok(count),
            None => at.error(format!(
                "a list of {count} items in {} bytes: the file is damaged; copy it again",
                self.rest.len()
            )),
        }
    }

    pub(crate) fn index(&mut self) -> Result<u32> {
        let at = *self;
        u32::try_from(self.number()?).or_else(|_| at.error("an index is too large: the file is damaged"))
    }

    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = self.count()?;
        let mut items = Vec::new();
        for _ in 0..count {
            cancel::tick();
            items.push(item(self)?);
        }
        Ok(items)
    }

    pub(crate) fn indices(&mut self) -> Result<Vec<u32>> {
        self.list(Self::index)
    }

    pub(crate) fn signed_list(&mut self) -> Result<Vec<i64>> {
        self.list(Self::signed)
    }

    /// A list of bytes.
    pub(crate) fn blob(&mut self) -> Result<&'a [u8]> {
        let len = self.count()?;
        self.bytes(len)
    }

    /// The bits of an integer of a known width, at most 128.
    pub(crate) fn bits(&mut self, width: u32) -> Result<u128> {
        let mask = if width >= 128 { u128::MAX } else { (1 << width) - 1 };
        let bits = match width {
            0..=8 => u128::from(self.byte()?),
            9..=64 => i128::from(self.signed()?).cast_unsigned(),
            _ => {
                let words = self.signed_list()?;
                if words.len() > 2 {
                    return self.error("integers of more than 128 bits are not supported");
                }
                words.iter().rev().fold(0, |bits, &word| bits << 64 | u128::from(word.cast_unsigned()))
            }
        };
        Ok(bits & mask)
    }

    pub(crate) fn double(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.bits(64)? as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_to_nine_bytes() {
        let cases: [(&[u8], u64); 5] = [
            (&[0x01], 0),
            (&[0xff], 127),
            (&[0x02, 0x02], 128),
            (&[0xfe, 0xff], (1 << 14) - 1),
            (&[0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], u64::MAX),
        ];
        for (bytes, number) in cases {
            let mut reader = Reader::new(bytes, 0);
            assert_eq!(reader.number(), Ok(number));
            assert!(reader.is_empty());
        }
        let signed = |byte: u8| Reader::new(&[byte], 0).signed();
        assert_eq!([signed(0x01), signed(0x03), signed(0x05)], [Ok(0), Ok(-1), Ok(1)]);
    }

    #[test]
    fn errors_name_the_byte() {
        let mut reader = Reader::new(&[0x09, 1, 2], 100);
        let error = reader.list(Reader::byte).unwrap_err();
        assert_eq!(error.offset, 100);
        assert_eq!(error.message, "a list of 4 items in 2 bytes: the file is damaged; copy it again");
    }
}
