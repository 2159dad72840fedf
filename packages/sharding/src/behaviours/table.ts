/**
 * The differences between server versions, as data (law 6): one row for each behaviour, with its
 * values by the first version that has them, and its source. No other code compares versions.
 */
import { languageOf, type Language } from '@shardlab/query'
import type { BehaviourRow } from './row.js'
import { administrationBehaviours } from './topics/administration.js'
import { balancerBehaviours } from './topics/balancer.js'
import { catalogBehaviours } from './topics/catalog.js'
import { changeStreamBehaviours } from './topics/change-streams.js'
import { chunkBehaviours } from './topics/chunks.js'
import { collectionBehaviours } from './topics/collections.js'
import { commandBehaviours } from './topics/commands.js'
import { explainBehaviours } from './topics/explain.js'
import { failPointBehaviours } from './topics/fail-points.js'
import { languageBehaviours } from './topics/language.js'
import { migrationBehaviours } from './topics/migrations.js'
import { queryAnalysisBehaviours } from './topics/query-analysis.js'
import { readBehaviours } from './topics/reads.js'
import { releaseBehaviours } from './topics/release.js'
import { replicationBehaviours } from './topics/replication.js'
import { reshardingBehaviours } from './topics/resharding.js'
import { shardingBehaviours } from './topics/sharding.js'
import { statisticsBehaviours } from './topics/statistics.js'
import { targetingBehaviours } from './topics/targeting.js'
import { transactionBehaviours } from './topics/transactions.js'
import { writeBehaviours } from './topics/writes.js'
import { emulatedVersions, versionsUntil, type EmulatedVersion } from './versions.js'

export type { BehaviourRow } from './row.js'

export const behaviourTable = {
  ...administrationBehaviours,
  ...balancerBehaviours,
  ...readBehaviours,
  ...releaseBehaviours,
  ...shardingBehaviours,
  ...catalogBehaviours,
  ...changeStreamBehaviours,
  ...chunkBehaviours,
  ...collectionBehaviours,
  ...languageBehaviours,
  ...commandBehaviours,
  ...explainBehaviours,
  ...failPointBehaviours,
  ...migrationBehaviours,
  ...queryAnalysisBehaviours,
  ...replicationBehaviours,
  ...reshardingBehaviours,
  ...statisticsBehaviours,
  ...targetingBehaviours,
  ...transactionBehaviours,
  ...writeBehaviours,
} satisfies Record<string, Omit<BehaviourRow<unknown>, 'name'>>

type ValueOf<R> = R extends { readonly values: readonly (readonly [EmulatedVersion, infer T])[] } ? T : never

export type Behaviours = { readonly [K in keyof typeof behaviourTable]: ValueOf<(typeof behaviourTable)[K]> } & {
  /** For display; code asks for behaviours. */
  readonly profile: EmulatedVersion
  /** The version and all older ones: tables of floors that do not know their order ask for one. */
  readonly releases: readonly EmulatedVersion[]
  /** Its own table is in `query`: operators, stages, forms, and the words of its errors. */
  readonly language: Language
}

export function behavioursOf(version: EmulatedVersion): Behaviours {
  let column = columns.get(version)
  if (column === undefined) columns.set(version, (column = columnOf(version)))
  return column
}

const columns = new Map<EmulatedVersion, Behaviours>()

function columnOf(version: EmulatedVersion): Behaviours {
  const position = emulatedVersions.indexOf(version)
  const column: Record<string, unknown> = { profile: version, releases: versionsUntil(version) }
  for (const [name, { values }] of Object.entries(behaviourTable)) {
    const holding = values.filter(([from]) => emulatedVersions.indexOf(from) <= position)
    column[name] = holding.at(-1)![1]
  }
  column.language = languageOf(column.serverVersion as string)
  return column as Behaviours
}
