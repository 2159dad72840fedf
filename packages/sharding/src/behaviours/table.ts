/**
 * What differs between server versions, as data (law 6): one row for each behaviour, its values by the version from
 * which they hold, and where that is known from. Nothing else in the house compares versions. The rows stand in
 * `subjects/`, by what they are about.
 */
import type { BehaviourRow } from './row.js'
import { administrationBehaviours } from './subjects/administration.js'
import { balancerBehaviours } from './subjects/balancer.js'
import { catalogBehaviours } from './subjects/catalog.js'
import { chunkBehaviours } from './subjects/chunks.js'
import { collectionBehaviours } from './subjects/collections.js'
import { commandBehaviours } from './subjects/commands.js'
import { explainBehaviours } from './subjects/explain.js'
import { failPointBehaviours } from './subjects/fail-points.js'
import { languageBehaviours } from './subjects/language.js'
import { migrationBehaviours } from './subjects/migrations.js'
import { queryAnalysisBehaviours } from './subjects/query-analysis.js'
import { releaseBehaviours } from './subjects/release.js'
import { reshardingBehaviours } from './subjects/resharding.js'
import { shardingBehaviours } from './subjects/sharding.js'
import { statisticsBehaviours } from './subjects/statistics.js'
import { targetingBehaviours } from './subjects/targeting.js'
import { writeBehaviours } from './subjects/writes.js'
import { emulatedVersions, type EmulatedVersion } from './versions.js'

export type { BehaviourRow } from './row.js'

/** All rows by name. */
export const behaviourTable = {
  ...administrationBehaviours,
  ...balancerBehaviours,
  ...releaseBehaviours,
  ...shardingBehaviours,
  ...catalogBehaviours,
  ...chunkBehaviours,
  ...collectionBehaviours,
  ...languageBehaviours,
  ...commandBehaviours,
  ...explainBehaviours,
  ...failPointBehaviours,
  ...migrationBehaviours,
  ...queryAnalysisBehaviours,
  ...reshardingBehaviours,
  ...statisticsBehaviours,
  ...targetingBehaviours,
  ...writeBehaviours,
} satisfies Record<string, Omit<BehaviourRow<unknown>, 'name'>>

type ValueOf<R> = R extends { readonly values: readonly (readonly [EmulatedVersion, infer T])[] } ? T : never

/** One column of the table: every behaviour by its name. */
export type Behaviours = { readonly [K in keyof typeof behaviourTable]: ValueOf<(typeof behaviourTable)[K]> } & {
  /** The profile that the column belongs to, for people; code asks for behaviours. */
  readonly profile: EmulatedVersion
}

/** The column of one version. */
export function behavioursOf(version: EmulatedVersion): Behaviours {
  let column = columns.get(version)
  if (column === undefined) columns.set(version, (column = columnOf(version)))
  return column
}

const columns = new Map<EmulatedVersion, Behaviours>()

function columnOf(version: EmulatedVersion): Behaviours {
  const position = emulatedVersions.indexOf(version)
  const column: Record<string, unknown> = { profile: version }
  for (const [name, { values }] of Object.entries(behaviourTable)) {
    const holding = values.filter(([from]) => emulatedVersions.indexOf(from) <= position)
    column[name] = holding.at(-1)![1]
  }
  return column as Behaviours
}
