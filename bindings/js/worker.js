// The thread of `startWorker`: it answers one call at a time.

import {load} from './index.js';

/** The calls of a thread, and the way back: the thread of a browser, or of Node. */
async function thread() {
  if (typeof self !== 'undefined' && typeof self.postMessage === 'function') {
    return {answer: (data) => self.postMessage(data), listen: (take) => (self.onmessage = ({data}) => take(data))};
  }
  const {parentPort} = await import('node:worker_threads');
  return {answer: (data) => parentPort.postMessage(data), listen: (take) => parentPort.on('message', take)};
}

thread().then(({answer, listen}) => {
  let core;
  listen(async ({core: given, method, parameters}) => {
    try {
      core ??= await load(given);
      answer({result: method === undefined ? undefined : core[method](...parameters)});
    } catch (error) {
      const {name, message, errors, warnings, leftOut} = error;
      answer({error: {name, message, errors, warnings, leftOut}});
    }
  });
  answer({result: 'ready'});
});
