/** Files by path, each a text or bytes. A relative path begins at the root of the files. */
export type Files =
  | Record<string, string | Uint8Array>
  | Iterable<readonly [path: string, content: string | Uint8Array]>;

/** The options of a build. */
export interface BuildOptions {
  /** The version of kustomize whose bytes are wanted, as in `5.7.1` or `kubectl-1.34`. */
  compat?: string;
  /** Whether files outside of the kustomization's directory may be named. */
  loadRestrictor?: 'LoadRestrictionsRootOnly' | 'LoadRestrictionsNone';
  /** The order of the resources, unless the kustomization says one. */
  reorder?: 'legacy' | 'none';
  /** Sets the label `app.kubernetes.io/managed-by` on everything. */
  managedByLabel?: boolean;
  /** The largest size of a file, in bytes. */
  fileSizeLimit?: number;
  /** The bytes that the steps of the build may make. */
  buildSizeLimit?: number;
  /** Merges lists of custom kinds by the keys that their definitions in the files name. */
  crdMergeKeys?: boolean;
}

export interface RootOptions extends BuildOptions {
  /** The directory with the kustomization; `.` is the root of the files. */
  root?: string;
}

export interface LintOptions extends RootOptions {
  /** Codes of findings that are off by default. */
  warn?: string[];
  /** Codes of findings that are left out. */
  allow?: string[];
}

export interface ExplainOptions extends RootOptions {
  /** `NAME`, `KIND/NAME` or `KIND/NAMESPACE/NAME`; without one all resources are listed. */
  resource?: string;
  /** A path with dots, or a JSON pointer. */
  field?: string;
  /** Shows the values of Secrets. */
  showSecrets?: boolean;
}

export interface DiffOptions extends BuildOptions {
  /** Shows the values of Secrets. */
  showSecrets?: boolean;
}

/** A side of a comparison: resources as YAML, or files that are built. */
export type Side = string | ({files: Files} & RootOptions);

/** An error, a warning or a finding. */
export interface Message {
  severity: 'error' | 'warning';
  code: string;
  message: string;
  file: string | null;
  line: number | null;
  column: number | null;
  endColumn: number | null;
  field: string | null;
  resource: string | null;
  /** How the build came to the fault. */
  chain: {text: string; file: string | null; line: number | null; column: number | null}[];
  hints: string[];
}

interface Result {
  warnings: Message[];
  /** The files that the build has read. */
  files: string[];
}

export interface BuildResult extends Result {
  yaml: string;
}

export interface LintResult extends Result {
  findings: Message[];
}

export interface ExplainResult extends Result {
  /** As `rustomize explain -o json` prints it. */
  explanation: unknown;
}

export interface DiffResult {
  warnings: Message[];
  /** As in `rustomize diff -o json`. */
  difference: {summary: Record<string, unknown>; resources: Record<string, unknown>[]};
}

export interface Versions {
  version: string;
  /** The versions of kustomize whose bytes can be built. */
  kustomize: string[];
}

/** The error of a call: `errors` has each fault with its place and hints. */
export class RustomizeError extends Error {
  readonly errors: Message[];
  readonly warnings: Message[];
  /** The number of faults that are not in `errors`. */
  readonly leftOut: number;
  /** The code of the first fault; `internal` without one. */
  readonly code: string;
}

/** The bytes of the core, or a compiled `WebAssembly.Module`. Its type is in few libraries. */
export type Core = ArrayBuffer | ArrayBufferView | object;

/** The core, compiled. Its methods block: in a page call them in a worker. */
export class Rustomize {
  constructor(module: object);
  build(files: Files, options?: RootOptions): BuildResult;
  lint(files: Files, options?: LintOptions): LintResult;
  explain(files: Files, options?: ExplainOptions): ExplainResult;
  diff(before: Side, after: Side, options?: DiffOptions): DiffResult;
  version(): Versions;
}

/** Compiles the core: that of this package, or the bytes or module that are given. */
export function load(core?: Core): Promise<Rustomize>;

/** The resources of a kustomization as YAML, in the bytes of kustomize. */
export function build(files: Files, options?: RootOptions): Promise<BuildResult>;
/** The findings of a kustomization: entries without effect and likely mistakes. */
export function lint(files: Files, options?: LintOptions): Promise<LintResult>;
/** Where the values of the output come from, and which steps have changed them. */
export function explain(files: Files, options?: ExplainOptions): Promise<ExplainResult>;
/** The differences of two outputs. */
export function diff(before: Side, after: Side, options?: DiffOptions): Promise<DiffResult>;
/** The version of rustomize, and the versions of kustomize whose bytes it builds. */
export function version(): Promise<Versions>;
