// The few functions of WASI that the core imports: its three streams, random numbers, and answers
// that there is nothing else. The core opens no file and has no network.

const SUCCESS = 0;
const BAD_DESCRIPTOR = 8;
const NOT_SUPPORTED = 52;

/** The most bytes that the system gives at a time as random numbers. */
const MOST_RANDOM = 65536;

/** Thrown to leave a program that exits. */
class Exit {
  constructor(status) {
    this.status = status;
  }
}

/** The bytes of all chunks. */
export function joined(chunks) {
  const all = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/**
 * Runs a program to its end in a new instance, whose memory is free afterwards.
 *
 * @param {WebAssembly.Module} module
 * @param {Uint8Array[]} input the chunks of stdin
 * @returns {{status: number, trap: unknown, stdout: Uint8Array, stderr: Uint8Array}} `trap` is the
 *   reason if the program did not exit by itself
 */
export function run(module, input) {
  const output = {1: [], 2: []};
  let chunk = 0;
  let offset = 0;
  let memory;
  const view = () => new DataView(memory.buffer);

  // A list of pairs: where bytes are, and how many.
  const vectors = (pointer, count) => {
    const data = view();
    return Array.from({length: count}, (_, i) => {
      const start = data.getUint32(pointer + 8 * i, true);
      return new Uint8Array(memory.buffer, start, data.getUint32(pointer + 8 * i + 4, true));
    });
  };
  const known = {
    fd_read(descriptor, pointer, count, size) {
      if (descriptor !== 0) return BAD_DESCRIPTOR;
      let read = 0;
      for (const target of vectors(pointer, count)) {
        let filled = 0;
        while (filled < target.length && chunk < input.length) {
          const part = input[chunk].subarray(offset, offset + target.length - filled);
          target.set(part, filled);
          filled += part.length;
          offset += part.length;
          if (offset === input[chunk].length) {
            chunk += 1;
            offset = 0;
          }
        }
        read += filled;
      }
      view().setUint32(size, read, true);
      return SUCCESS;
    },
    fd_write(descriptor, pointer, count, size) {
      const chunks = output[descriptor];
      if (chunks === undefined) return BAD_DESCRIPTOR;
      let written = 0;
      for (const source of vectors(pointer, count)) {
        chunks.push(source.slice());
        written += source.length;
      }
      view().setUint32(size, written, true);
      return SUCCESS;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return SUCCESS;
    },
    environ_get: () => SUCCESS,
    args_sizes_get: (count, size) => known.environ_sizes_get(count, size),
    args_get: () => SUCCESS,
    fd_prestat_get: () => BAD_DESCRIPTOR,
    fd_close: () => SUCCESS,
    sched_yield: () => SUCCESS,
    random_get(pointer, length) {
      for (let at = 0; at < length; at += MOST_RANDOM) {
        crypto.getRandomValues(new Uint8Array(memory.buffer, pointer + at, Math.min(MOST_RANDOM, length - at)));
      }
      return SUCCESS;
    },
    clock_time_get(_clock, _precision, time) {
      view().setBigUint64(time, 0n, true);
      return SUCCESS;
    },
    proc_exit(status) {
      throw new Exit(status);
    },
  };

  const imports = {};
  for (const {module: name, name: wanted} of WebAssembly.Module.imports(module)) {
    imports[name] ??= {};
    imports[name][wanted] = known[wanted] ?? (() => NOT_SUPPORTED);
  }
  const instance = new WebAssembly.Instance(module, imports);
  memory = instance.exports.memory;
  let status = 0;
  let trap;
  try {
    instance.exports._start();
  } catch (thrown) {
    if (thrown instanceof Exit) status = thrown.status;
    else [status, trap] = [1, thrown];
  }
  return {status, trap, stdout: joined(output[1]), stderr: joined(output[2])};
}
