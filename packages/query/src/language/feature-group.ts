/** Features of the query language by the release that introduced them. */

/** Of the server, such as 3.6 or 6.0.3. Not only emulated ones. */
export type Release = `${number}.${number}` | `${number}.${number}.${number}`

type NamesByRelease = Readonly<Partial<Record<Release, readonly string[]>>>

export interface FeatureGroup {
  readonly title: string
  /** One sentence: what clients get for a feature that the emulated version lacks. */
  readonly about: string
  /** Manual pages or server sources. */
  readonly source: string
  /**
   * Names by the release that introduced them; 2.6 includes everything older. A name occurs again
   * for a release that has it after others lacked it.
   */
  readonly since: NamesByRelease
  /** Names by the first release without them. */
  readonly removed?: NamesByRelease
}

/** Of one feature, in the order of releases. */
export type FeatureHistory = readonly { readonly release: Release; readonly isPresent: boolean }[]

/** By the names of the features, in the order in which the table has them. */
export function historiesOf({ since, removed = {} }: FeatureGroup): ReadonlyMap<string, FeatureHistory> {
  const histories = new Map<string, { release: Release; isPresent: boolean }[]>()
  const add = (names: NamesByRelease, isPresent: boolean): void => {
    for (const [release, list] of Object.entries(names) as [Release, readonly string[]][]) {
      for (const name of list) {
        const history = histories.get(name) ?? []
        history.push({ release, isPresent })
        histories.set(name, history)
      }
    }
  }
  add(since, true)
  add(removed, false)
  for (const history of histories.values()) history.sort((a, b) => compareReleases(a.release, b.release))
  return histories
}

/** Whether a release of the server has a feature. */
export function isPresentIn(history: FeatureHistory, release: string): boolean {
  return history.findLast((change) => compareReleases(change.release, release) <= 0)?.isPresent ?? false
}

/** A missing part counts as 0. */
export function compareReleases(a: string, b: string): number {
  const left = a.split('.').map(Number)
  const right = b.split('.').map(Number)
  for (let i = 0; i < 3; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
