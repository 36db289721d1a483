// Calls in a thread of their own, with a limit of time: a page stays alive, and hostile input ends.

import {RustomizeError} from './index.js';

/** Starts the thread: a worker of the browser, or of Node. */
async function start() {
  const url = new URL('./worker.js', import.meta.url);
  if (typeof Worker === 'function') return new Worker(url, {type: 'module'});
  const {Worker: Thread} = await import('node:worker_threads');
  const thread = new Thread(url);
  const own = {postMessage: (data) => thread.postMessage(data), terminate: () => thread.terminate()};
  thread.on('message', (data) => own.onmessage({data}));
  thread.on('error', (error) => own.onerror(error));
  return own;
}

/** The methods of the core, each in the thread. Calls wait for each other. */
class RustomizeWorker {
  #start;
  #core;
  #timeout;
  #thread;
  #last = Promise.resolve();
  #closed = false;
  #abort = () => {};

  constructor({timeout = 10_000, core, start: own = start} = {}) {
    [this.#start, this.#core, this.#timeout] = [own, core, timeout];
  }

  build(...parameters) {
    return this.#call('build', parameters);
  }

  lint(...parameters) {
    return this.#call('lint', parameters);
  }

  explain(...parameters) {
    return this.#call('explain', parameters);
  }

  diff(...parameters) {
    return this.#call('diff', parameters);
  }

  version() {
    return this.#call('version', []);
  }

  /** Ends the thread. Calls that wait fail. */
  async close() {
    this.#closed = true;
    this.#abort(new RustomizeError('the worker is closed'));
    await this.#end();
  }

  #call(method, parameters) {
    const result = this.#last.then(() => this.#ask(method, parameters));
    this.#last = result.catch(() => {});
    return result;
  }

  async #ask(method, parameters) {
    if (this.#closed) throw new RustomizeError('the worker is closed');
    // The time for starting the thread and for compiling the core is not that of the call.
    this.#thread ??= this.#begin();
    let thread;
    try {
      thread = await this.#thread;
    } catch (error) {
      this.#thread = undefined;
      throw error;
    }
    const data = await this.#exchange(thread, {method, parameters}, this.#timeout);
    if (data.error === undefined) return data.result;
    const {name, message, ...members} = data.error;
    throw name === 'TypeError' ? new TypeError(message) : new RustomizeError(message, members);
  }

  async #begin() {
    const thread = await this.#start();
    await this.#exchange(thread, undefined, undefined);
    const data = await this.#exchange(thread, {core: await this.#core}, undefined);
    if (data.error !== undefined) throw new RustomizeError(data.error.message);
    return thread;
  }

  /** Sends a message, and waits for the next one. A thread that takes too long is ended. */
  #exchange(thread, message, timeout) {
    return new Promise((resolve, reject) => {
      const fail = (error) => {
        clearTimeout(timer);
        this.#thread = undefined;
        thread.terminate();
        reject(error);
      };
      const late = () => fail(new RustomizeError(`the call took longer than ${timeout} ms`, {errors: [{code: 'timeout'}]}));
      const timer = timeout === undefined ? undefined : setTimeout(late, timeout);
      this.#abort = fail;
      thread.onmessage = ({data}) => {
        clearTimeout(timer);
        resolve(data);
      };
      thread.onerror = (error) => fail(new RustomizeError(`the worker has ended: ${error.message ?? error}`));
      if (message !== undefined) thread.postMessage(message);
    });
  }

  async #end() {
    const thread = await Promise.resolve(this.#thread).catch(() => undefined);
    this.#thread = undefined;
    await thread?.terminate();
  }
}

/** A worker for calls; `timeout` is the limit of each in milliseconds. */
export function startWorker(options) {
  return new RustomizeWorker(options);
}
