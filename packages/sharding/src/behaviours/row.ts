import type { EmulatedVersion } from './versions.js'

export interface BehaviourRow<T> {
  readonly name: string
  /** One sentence: the meaning of the values; of a boolean, the meaning of true. */
  readonly about: string
  /**
   * `[from, value]`, ascending; a value holds until the version of the next one. The first is for
   * 2.6.
   */
  readonly values: readonly (readonly [from: EmulatedVersion, value: T])[]
  /** Manual page or server source. */
  readonly source: string
}

/** The row's name is its key in the table. */
export const row = <T>(about: string, source: string, ...values: readonly (readonly [EmulatedVersion, T])[]) => ({
  about,
  source,
  values,
})
