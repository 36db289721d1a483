import type {
  BuildResult,
  Core,
  DiffOptions,
  DiffResult,
  ExplainOptions,
  ExplainResult,
  Files,
  LintOptions,
  LintResult,
  RootOptions,
  Side,
  Versions,
} from './index.js';

/** A thread for calls, which wait for each other. A call that takes too long fails. */
export interface RustomizeWorker {
  build(files: Files, options?: RootOptions): Promise<BuildResult>;
  lint(files: Files, options?: LintOptions): Promise<LintResult>;
  explain(files: Files, options?: ExplainOptions): Promise<ExplainResult>;
  diff(before: Side, after: Side, options?: DiffOptions): Promise<DiffResult>;
  version(): Promise<Versions>;
  /** Ends the thread. Calls that wait fail. */
  close(): Promise<void>;
}

/** Starts a thread; `timeout` is the limit of a call in milliseconds, 10,000 by default. */
export function startWorker(options?: {
  timeout?: number;
  /** The core, if it is not that of the package. */
  core?: Core | Promise<Core>;
  /** Starts the thread: a `Worker` of the browser whose script has `worker.js` in it. */
  start?: () => unknown;
}): RustomizeWorker;
