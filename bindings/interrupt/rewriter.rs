//! [`interruptible`]: puts a look at a flag into the loops of a program.

use std::fmt;
use wasm_encoder::reencode::{self, Reencode, utils};
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, ExportKind, ExportSection, Function, GlobalSection, GlobalType, Instruction,
    MemArg, MemArgTarget, MemoryType, Module, ValType,
};
use wasmparser::{ExportSectionReader, FunctionBody, GlobalSectionReader, Operator, Parser, Payload, TypeRef};

/// The name of the exported global with the address of the flag. Its first byte is 0 until the
/// program is to end.
const FLAG: &str = "interrupt";

/// A program that cannot be made interruptible.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The program has no memory of its own, or has more than one.
    Memories,
    /// The program lacks the section of globals or that of exports.
    Sections,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Memories => "the program does not have one memory of its own",
            Fault::Sections => "the program lacks globals or exports",
        })
    }
}

impl std::error::Error for Fault {}

/// The error of [`interruptible`]: the program is not valid, or has a [`Fault`].
pub(crate) type Error = reencode::Error<Fault>;

/// Returns the program with a look at a flag at the beginning of each loop, and of each function
/// that calls itself. [Short loops](short_loops) are left alone: they pass over a text or a list
/// once, and a look would take a large part of their time. The flag has a page of its own behind
/// those that the program begins with. The program's allocator does not know that page: it uses
/// what the linker has left free in the pages before it, and pages that it asks for.
///
/// # Errors
/// See [`Error`].
pub(crate) fn interruptible(program: &[u8]) -> Result<Vec<u8>, Error> {
    let mut rewriter = Rewriter::of(program)?;
    let mut module = Module::new();
    rewriter.parse_core_module(&mut module, Parser::new(0), program)?;
    if rewriter.is_exported { Ok(module.finish()) } else { Err(Error::UserError(Fault::Sections)) }
}

struct Rewriter {
    /// The address of the flag.
    flag: u64,
    /// The index of the global with the address, once the globals are written.
    global: Option<u32>,
    is_exported: bool,
    /// The index of the next function.
    function: u32,
}

impl Rewriter {
    /// Reads the size of the memory, and the number of functions that are imported.
    fn of(program: &[u8]) -> Result<Self, Error> {
        let (mut function, mut memories, mut imported) = (0, Vec::new(), 0);
        for payload in Parser::new(0).parse_all(program) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        match import?.ty {
                            TypeRef::Func(_) => function += 1,
                            TypeRef::Memory(_) => imported += 1,
                            _ => {}
                        }
                    }
                }
                Payload::MemorySection(section) => {
                    for memory in section {
                        memories.push(memory?);
                    }
                }
                _ => {}
            }
        }
        match memories[..] {
            [memory] if imported == 0 && !memory.memory64 && memory.page_size_log2.is_none() => {
                Ok(Rewriter { flag: memory.initial << 16, global: None, is_exported: false, function })
            }
            _ => Err(Error::UserError(Fault::Memories)),
        }
    }

    /// Ends the program if the flag is set.
    fn look(&self, function: &mut Function) {
        let flag = MemArg { offset: self.flag, align: 0, target: MemArgTarget::Memory(0), ordering: None };
        function.instruction(&Instruction::I32Const(0));
        function.instruction(&Instruction::I32Load8U(flag));
        function.instruction(&Instruction::If(BlockType::Empty));
        function.instruction(&Instruction::Unreachable);
        function.instruction(&Instruction::End);
    }
}

impl Reencode for Rewriter {
    type Error = Fault;

    fn memory_type(&mut self, memory: wasmparser::MemoryType) -> Result<MemoryType, Error> {
        let memory = utils::memory_type(self, memory);
        let maximum = memory.maximum.map(|pages| pages + 1);
        Ok(MemoryType { minimum: memory.minimum + 1, maximum, ..memory })
    }

    fn parse_global_section(&mut self, to: &mut GlobalSection, from: GlobalSectionReader<'_>) -> Result<(), Error> {
        utils::parse_global_section(self, to, from)?;
        self.global = Some(to.len());
        let address = GlobalType { val_type: ValType::I32, mutable: false, shared: false };
        to.global(address, &ConstExpr::i32_const(self.flag as u32 as i32));
        Ok(())
    }

    fn parse_export_section(&mut self, to: &mut ExportSection, from: ExportSectionReader<'_>) -> Result<(), Error> {
        utils::parse_export_section(self, to, from)?;
        if let Some(global) = self.global {
            to.export(FLAG, ExportKind::Global, global);
            self.is_exported = true;
        }
        Ok(())
    }

    fn parse_function_body(&mut self, code: &mut CodeSection, body: FunctionBody<'_>) -> Result<(), Error> {
        let mut function = self.new_function_with_parsed_locals(&body)?;
        let operators = body.get_operators_reader()?.into_iter().collect::<Result<Vec<_>, _>>()?;
        let is_own_call =
            |o: &Operator<'_>| matches!(o, Operator::Call { function_index } if *function_index == self.function);
        if operators.iter().any(is_own_call) {
            self.look(&mut function);
        }
        let short = short_loops(&operators);
        for (at, operator) in operators.into_iter().enumerate() {
            let is_long_loop = matches!(operator, Operator::Loop { .. }) && short.binary_search(&at).is_err();
            function.instruction(&self.instruction(operator)?);
            if is_long_loop {
                self.look(&mut function);
            }
        }
        code.function(&function);
        self.function += 1;
        Ok(())
    }
}

/// A loop with at most so many instructions may be a short one.
const SHORT: usize = 64;

/// The places of short loops, in order: few instructions, none of which is a call, copies memory or
/// begins another loop.
fn short_loops(operators: &[Operator<'_>]) -> Vec<usize> {
    let (mut open, mut short) = (Vec::new(), Vec::new());
    for (at, operator) in operators.iter().enumerate() {
        match operator {
            Operator::Block { .. } | Operator::If { .. } | Operator::Try { .. } | Operator::TryTable { .. } => {
                open.push(None);
            }
            Operator::Loop { .. } => {
                open.fill(None);
                open.push(Some(at));
            }
            Operator::Call { .. }
            | Operator::CallIndirect { .. }
            | Operator::MemoryCopy { .. }
            | Operator::MemoryFill { .. } => open.fill(None),
            Operator::End => short.extend(open.pop().flatten().filter(|begin| at - begin <= SHORT)),
            _ => {}
        }
    }
    short.sort_unstable();
    short
}

#[cfg(test)]
mod tests {
    use super::{Error, FLAG, Fault, interruptible};
    use wasm_encoder::{
        BlockType, CodeSection, ConstExpr, ExportSection, Function, FunctionSection, GlobalSection, GlobalType,
        Instruction, MemorySection, MemoryType, Module, TypeSection, ValType,
    };
    use wasmparser::{Operator, Parser, Payload};

    /// A program with a function of these instructions, and so many memories.
    fn program(instructions: &[Instruction<'_>], memories: u64) -> Vec<u8> {
        let (mut types, mut functions, mut memory) = (TypeSection::new(), FunctionSection::new(), MemorySection::new());
        let (mut globals, mut exports, mut code) = (GlobalSection::new(), ExportSection::new(), CodeSection::new());
        types.ty().function([], []);
        functions.function(0);
        for pages in 0..memories {
            let maximum = Some(9);
            memory.memory(MemoryType {
                minimum: 2 + pages,
                maximum,
                memory64: false,
                shared: false,
                page_size_log2: None,
            });
        }
        let stack = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
        globals.global(stack, &ConstExpr::i32_const(1));
        exports.export("memory", wasm_encoder::ExportKind::Memory, 0);
        let mut function = Function::new([]);
        instructions.iter().for_each(|instruction| _ = function.instruction(instruction));
        code.function(&function);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&memory).section(&globals).section(&exports).section(&code);
        module.finish()
    }

    /// The parts of a program that matter here: pages, exports and operators.
    fn parts(program: &[u8]) -> (Vec<u64>, Vec<String>, Vec<String>) {
        let (mut pages, mut exports, mut operators) = Default::default();
        for payload in Parser::new(0).parse_all(program) {
            match payload.unwrap() {
                Payload::MemorySection(section) => {
                    pages = section
                        .into_iter()
                        .flat_map(|m| [Some(m.as_ref().unwrap().initial), m.unwrap().maximum])
                        .flatten()
                        .collect();
                }
                Payload::ExportSection(section) => {
                    exports = section.into_iter().map(|e| e.unwrap().name.to_owned()).collect()
                }
                Payload::CodeSectionEntry(body) => {
                    let name = |o: Operator<'_>| match o {
                        Operator::I32Load8U { memarg } => format!("load {}", memarg.offset),
                        other => format!("{other:?}").split([' ', '(']).next().unwrap().to_owned(),
                    };
                    operators = body.get_operators_reader().unwrap().into_iter().map(|o| name(o.unwrap())).collect();
                }
                _ => {}
            }
        }
        (pages, exports, operators)
    }

    #[test]
    fn loops_and_functions_that_call_themselves_look_at_the_flag() {
        const LOOK: [&str; 5] = ["I32Const", "load 131072", "If", "Unreachable", "End"];
        let (begin, end) = (Instruction::Loop(BlockType::Empty), Instruction::End);
        let around = [begin.clone(), Instruction::Call(0), end.clone(), end.clone()];
        let (pages, exports, operators) = parts(&interruptible(&program(&around, 1)).unwrap());
        assert_eq!((pages, exports), (vec![3, 10], vec!["memory".to_owned(), FLAG.to_owned()]));
        assert_eq!(operators, [&LOOK[..], &["Loop"], &LOOK, &["Call", "End", "End"]].concat());
        let nested = [begin.clone(), begin.clone(), Instruction::Br(0), end.clone(), end.clone(), end.clone()];
        let (_, _, operators) = parts(&interruptible(&program(&nested, 1)).unwrap());
        assert_eq!(operators, [&["Loop"][..], &LOOK, &["Loop", "Br", "End", "End", "End"]].concat());
        let long = [&[begin][..], &vec![Instruction::Nop; super::SHORT], &[end.clone(), end]].concat();
        let (_, _, operators) = parts(&interruptible(&program(&long, 1)).unwrap());
        assert_eq!(operators[..6], [&["Loop"][..], &LOOK].concat());
        let again = [Instruction::Call(0), Instruction::Call(0), Instruction::End];
        let (_, _, operators) = parts(&interruptible(&program(&again, 1)).unwrap());
        assert_eq!(operators, [&LOOK[..], &["Call", "Call", "End"]].concat());
        let (_, _, operators) = parts(&interruptible(&program(&[Instruction::Nop, Instruction::End], 1)).unwrap());
        assert_eq!(operators, ["Nop", "End"]);
    }

    #[test]
    fn programs_that_cannot_be_rewritten_are_refused() {
        for memories in [0, 2] {
            let fault = interruptible(&program(&[Instruction::End], memories));
            assert!(matches!(fault, Err(Error::UserError(Fault::Memories))), "{fault:?}");
        }
        assert!(matches!(interruptible(b"text"), Err(Error::ParseError(_))));
        let whole = program(&[Instruction::End], 1);
        assert!(matches!(interruptible(&whole[..whole.len() - 1]), Err(Error::ParseError(_))));
    }
}
