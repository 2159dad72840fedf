import type { EmulatedVersion } from './versions.js'

/** One behaviour that differs between versions. */
export interface BehaviourRow<T> {
  readonly name: string
  /** The meaning of the values, in one sentence; of a boolean, what true means. */
  readonly about: string
  /**
   * `[from, value]`, ascending; a value holds until the version of the next one. The first is for
   * 2.6.
   */
  readonly values: readonly (readonly [from: EmulatedVersion, value: T])[]
  /** Manual page or server source. */
  readonly source: string
}

/** A row of the table; its name is its key in the table. */
export const row = <T>(about: string, source: string, ...values: readonly (readonly [EmulatedVersion, T])[]) => ({
  about,
  source,
  values,
})
