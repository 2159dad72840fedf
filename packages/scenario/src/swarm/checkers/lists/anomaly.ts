/**
 * Adya's classes: dirty write is G0, aborted read G1a, intermediate read G1b, circular information
 * flow G1c, read skew G-single, long fork G-nonadjacent, write skew G2.
 */
export const listAnomalyKinds = [
  'duplicate append',
  'unknown value',
  'aborted read',
  'intermediate read',
  'internal',
  'incompatible order',
  'lost append',
  'lost update',
  'dirty write',
  'circular information flow',
  'read skew',
  'long fork',
  'session order',
  'write skew',
] as const

export type ListAnomalyKind = (typeof listAnomalyKinds)[number]

export interface ListAnomaly {
  readonly kind: ListAnomalyKind
  readonly sentence: string
  readonly keys: readonly number[]
}

/** Snapshot isolation permits it. */
export const isPermitted = ({ kind }: ListAnomaly): boolean => kind === 'write skew'
