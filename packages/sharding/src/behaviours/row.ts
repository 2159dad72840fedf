import type { EmulatedVersion } from './versions.js'

/** One behaviour that differs between versions. */
export interface BehaviourRow<T> {
  readonly name: string
  /** What is decided, one sentence. */
  readonly about: string
  /** `[from, value]`, ascending; a value holds until the next one's version. The first one starts at 2.6. */
  readonly values: readonly (readonly [from: EmulatedVersion, value: T])[]
  /** Manual page or server source. */
  readonly source: string
}

/** A row of the table, whose key is its name. */
export const row = <T>(about: string, source: string, ...values: readonly (readonly [EmulatedVersion, T])[]) => ({
  about,
  source,
  values,
})
