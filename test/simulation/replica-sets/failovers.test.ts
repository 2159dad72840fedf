/**
 * The primary of each party is replaced, after a crash or a step-down, at every named step of a
 * migration, a resharding, a document move and the commands that define collections. Afterwards
 * everything that was acknowledged is there once, no work is left, and the members of each set are
 * equal. By default a sample of the scenes is played; `SHARDLAB_LONG=1` plays all of them.
 */
import { namedSteps } from '@shardlab/actor'
import t from 'tap'
import { definitions, playDefinition } from '../definition-failure.js'
import { documentMoveSteps, playDocumentMove } from '../document-move-failure.js'
import { migrationSteps, playMigration } from '../migration.js'
import { abortSteps, playResharding, reshardingSteps } from '../resharding.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const seed = SHARDLAB_SEED === undefined ? 1 : Number(SHARDLAB_SEED)
/** One of so many scenes is played by default. */
const share = SHARDLAB_LONG === '1' ? 1 : 31

interface Scene {
  readonly name: string
  readonly play: () => Promise<{ readonly violations: readonly string[]; readonly struck: boolean }>
}

const scenes: Record<string, Scene[]> = { migration: [], resharding: [], 'document move': [], definition: [] }

for (const failure of ['failover', 'step-down'] as const) {
  for (const step of migrationSteps)
    for (const crash of ['donor', 'recipient', 'config'] as const)
      scenes['migration']!.push({
        name: `${step}, ${crash}, ${failure}`,
        play: () => playMigration({ seed, step, crash, failure, loss: false }),
      })
  for (const step of [...reshardingSteps, ...abortSteps])
    for (const disruption of ['primary', 'donor', 'recipient', 'config'] as const)
      scenes['resharding']!.push({
        name: `${step}, ${disruption}, ${failure}`,
        play: () => playResharding({ seed, step, disruption, failure, command: 'reshardCollection', loss: false }),
      })
  for (const step of documentMoveSteps)
    for (const party of ['donor', 'recipient'] as const)
      scenes['document move']!.push({
        name: `${step}, ${party}, ${failure}`,
        play: () => playDocumentMove({ seed, step, party, failure }),
      })
  for (const [name, { steps }] of Object.entries(definitions))
    for (const step of steps)
      for (const party of ['coordinator', 'other', 'config'] as const)
        scenes['definition']!.push({
          name: `${name}: ${step}, ${party}, ${failure}`,
          play: () => playDefinition({ seed, name, step, party, failure }),
        })
}

t.test('every step of shards and of the config server is in a scene', (t) => {
  // Auto-split moves and splits chunks like a client; two-phase-commit.test.ts plays the steps of
  // transactions; the others are of the config server alone.
  const others = /^(shard\.(auto-split|transaction)|config\.(add-shard|set-feature-compatibility-version))\./
  const played = Object.values(scenes).flat()
  for (const step of namedSteps)
    if (/^(shard|config)\./.test(step) && !others.test(step))
      t.ok(
        played.some(({ name }) => name.includes(`${step},`)),
        step,
      )
  t.end()
})

for (const [what, all] of Object.entries(scenes)) {
  t.test(`a ${what} survives the failover of each party at each step`, { timeout: 3_600_000 }, async (t) => {
    for (const { name, play } of all.filter((_, i) => i % share === seed % share)) {
      const { violations, struck } = await play()
      t.ok(struck, `${name}, seed ${seed}: the step is passed`)
      t.same(violations, [], `${name}, seed ${seed}`)
    }
  })
}
