/** What a bench reports. */
export interface BenchResult {
  readonly title: string
  readonly rows: readonly { readonly name: string; readonly value: string; readonly goal?: string }[]
  /** What the figures are, for the reader: an emulator's, medians of what, on what. */
  readonly note: string
}

export interface Bench {
  measure(): Promise<BenchResult>
}

export const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  codec: () => import('./codec.js'),
  fork: () => import('./fork.js'),
  migration: () => import('./migration.js'),
  operations: () => import('./operations.js'),
  routing: () => import('./routing.js'),
  simulate: () => import('./simulate.js'),
  soak: () => import('./soak.js'),
  start: () => import('./start.js'),
  storage: () => import('./storage.js'),
  unique: () => import('./unique.js'),
  wire: () => import('./wire.js'),
}
