//! Checks the text after the first document of a piece. kustomize ignores it, but go-yaml has read
//! its first tokens when it ends the document, and an error among them is reported.

use super::{COMPLEX_KEY, END, MAX_KEY, NO_COLON, NO_TOKEN, NO_VALUE, Read, Reader};

/// The number of tokens that go-yaml has read when it ends a document.
const AHEAD: usize = 3;

/// The number of the root as a token.
const ROOT: usize = usize::MAX;

/// The state of a scan over tokens, which does not make nodes of them.
struct Rest {
    indents: Vec<isize>,
    /// The places at which a key may have started: one for each open bracket, and one for the block
    /// around them.
    keys: Vec<Option<KeyStart>>,
    may_be_key: bool,
    tokens: usize,
}

#[derive(Clone, Copy)]
struct KeyStart {
    at: usize,
    is_required: bool,
    token: usize,
}

impl Rest {
    fn indent(&self) -> isize {
        self.indents.last().copied().unwrap_or(END)
    }

    fn is_block(&self) -> bool {
        self.keys.len() == 1
    }

    /// Opens a block at a column, if that is deeper than the block around.
    fn roll(&mut self, column: isize) {
        if self.is_block() && self.indent() < column {
            self.indents.push(column);
            self.tokens += 1;
        }
    }

    fn key(&mut self) -> Option<KeyStart> {
        self.keys.last_mut().and_then(Option::take)
    }
}

impl<const RARE: bool> Reader<'_, RARE> {
    /// Reads the tokens after the root.
    ///
    /// # Errors
    /// A token is malformed.
    pub(super) fn check_rest(&mut self) -> Read<()> {
        if self.at == self.bytes.len() {
            return Ok(());
        }
        let may_be_key = self.at == self.line || self.text[self.line..self.at].trim_matches(' ').is_empty();
        let root = self.root_key.map(|at| KeyStart { at, is_required: false, token: ROOT });
        let mut rest = Rest { indents: Vec::new(), keys: vec![root], may_be_key, tokens: 0 };
        while !self.is_enough(&rest) && self.rest_token(&mut rest)? {}
        Ok(())
    }

    /// Returns true if enough tokens were read. More are read while the root, or the first token
    /// after it, may still turn out to be a key.
    fn is_enough(&self, rest: &Rest) -> bool {
        let is_open = |key: &KeyStart| matches!(key.token, 0 | ROOT) && self.is_near(key.at, self.at);
        rest.tokens >= AHEAD && !rest.keys.iter().flatten().any(is_open)
    }

    /// Reads one token. Returns `false` at the end of the text.
    fn rest_token(&mut self, rest: &mut Rest) -> Read<bool> {
        self.skip_to_token(rest);
        let column = (self.at - self.line) as isize;
        while rest.is_block() && rest.indent() > column {
            rest.indents.pop();
            rest.tokens += 1;
        }
        let Some(byte) = self.byte() else {
            self.drop_key(rest)?;
            return Ok(false);
        };
        let is_indicator = self.is_blank_or_end(self.at + 1);
        let is_block = rest.is_block();
        if column == 0 && self.at_document_end() {
            rest.indents.clear();
            self.drop_key(rest)?;
            if byte == b'%' {
                self.directive(&mut false)?;
            } else {
                self.at += 3;
            }
            rest.may_be_key = false;
            rest.tokens += 1;
            return Ok(true);
        }
        match byte {
            b'[' | b'{' => {
                self.save_key(rest, column)?;
                rest.keys.push(None);
                rest.may_be_key = true;
                self.at += 1;
            }
            b']' | b'}' => {
                self.drop_key(rest)?;
                if !is_block {
                    rest.keys.pop();
                }
                rest.may_be_key = false;
                self.at += 1;
            }
            b',' => {
                self.drop_key(rest)?;
                rest.may_be_key = true;
                self.at += 1;
            }
            b'-' | b'?' if is_indicator || (byte == b'?' && !is_block) => {
                if is_block && !rest.may_be_key {
                    return Err(self.error("not allowed in this context", self.at));
                }
                rest.roll(column);
                self.drop_key(rest)?;
                rest.may_be_key = is_block || byte == b'-';
                self.at += 1;
            }
            b':' if is_indicator || !is_block => self.rest_value(rest, column)?,
            b'&' | b'*' | b'!' => {
                self.save_key(rest, column)?;
                rest.may_be_key = false;
                if byte == b'!' { self.tag().map(drop)? } else { self.anchor_name().map(drop)? }
            }
            b'|' | b'>' if is_block => {
                self.drop_key(rest)?;
                rest.may_be_key = true;
                self.block_text(rest.indent())?;
            }
            b'"' | b'\'' => {
                self.save_key(rest, column)?;
                rest.may_be_key = false;
                self.quoted(byte)?;
            }
            _ if (is_block && self.starts_plain()) || (!is_block && self.starts_flow_plain()) => {
                self.save_key(rest, column)?;
                rest.may_be_key = false;
                let line = self.line;
                if is_block {
                    self.plain_lines(rest.indent())?
                } else {
                    self.plain_flow(rest.indent())?
                };
                let is_line_start = self.text[self.line..self.at].trim_matches([' ', '\t']).is_empty();
                rest.may_be_key = self.line > line && is_line_start;
            }
            _ => return Err(self.error(NO_TOKEN, self.at)),
        }
        rest.tokens += 1;
        Ok(true)
    }

    fn skip_to_token(&mut self, rest: &mut Rest) {
        loop {
            match self.byte() {
                Some(b' ') => self.at += 1,
                Some(b'\t') if !rest.may_be_key || !rest.is_block() => self.at += 1,
                Some(b'#') => {
                    self.skip_comments();
                    rest.may_be_key |= rest.is_block();
                }
                Some(_) if self.break_len(self.at) > 0 => {
                    self.at += self.break_len(self.at);
                    self.line = self.at;
                    rest.may_be_key |= rest.is_block();
                }
                _ => return,
            }
        }
    }

    /// Reads the colon after a key, or before the value of an explicit key.
    fn rest_value(&mut self, rest: &mut Rest, column: isize) -> Read<()> {
        match rest.key() {
            Some(key) if self.is_near(key.at, self.at) && key.token == ROOT => {
                return Err(self.error(COMPLEX_KEY, key.at));
            }
            Some(key) if self.is_near(key.at, self.at) => {
                rest.tokens += 1;
                rest.roll((key.at - self.line) as isize);
                rest.may_be_key = false;
            }
            Some(key) if key.is_required => return Err(self.error(NO_COLON, key.at)),
            _ if rest.is_block() && !rest.may_be_key => return Err(self.error(NO_VALUE, self.at)),
            _ => {
                rest.roll(column);
                rest.may_be_key = rest.is_block();
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Returns true if a key that starts at `start` may have its colon at `colon`.
    #[inline]
    pub(super) fn is_near(&self, start: usize, colon: usize) -> bool {
        let is_short = || colon - start <= MAX_KEY || self.text[start..colon].chars().count() <= MAX_KEY;
        start >= self.line && is_short()
    }

    fn save_key(&mut self, rest: &mut Rest, column: isize) -> Read<()> {
        if rest.may_be_key {
            self.drop_key(rest)?;
            let is_required = rest.is_block() && rest.indent() == column;
            let key = KeyStart { at: self.at, is_required, token: rest.tokens };
            if let Some(last) = rest.keys.last_mut() {
                *last = Some(key);
            }
        }
        Ok(())
    }

    fn drop_key(&mut self, rest: &mut Rest) -> Read<()> {
        match rest.key() {
            Some(key) if key.is_required => Err(self.error(NO_COLON, key.at)),
            _ => Ok(()),
        }
    }
}
