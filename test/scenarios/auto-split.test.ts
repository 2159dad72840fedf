/** D823: the chunk at the end of the key space with and without automatic splits, by version. */
import { parseScenario, runVariant } from '@shardlab/scenario'
import t from 'tap'

const source = (emulate: string, mode: string, autoSplit?: boolean): string => `version: 1
seed: 7
emulate: "${emulate}"
cluster: { shards: 3, chunkSize: 1MB${autoSplit === undefined ? '' : `, autoSplit: ${autoSplit}`} }
collections: [{ ns: app.log, key: { at: 1 }, mode: ${mode} }]
workload:
  - { ns: app.log, rate: 20/s, keys: { distribution: monotonic }, documentSize: 1KB, mix: { insert: 1 } }
duration: 5m
`

const isLong = process.env['SHARDLAB_LONG'] === '1'

/** Quick runs play a part of the versions and settings. */
const isPlayed = (mode: string, i: number): boolean => isLong || (mode === 'documents' ? i === 2 : i % 2 === 1)

for (const mode of ['documents', 'metadata'])
  for (const [emulate, autoSplit, isSplit] of (
    [
      ['7.0', undefined, false],
      ['7.0', true, true],
      ['8.0', true, true],
      ['6.0.2', undefined, true],
      ['6.0.2', false, false],
    ] as const
  ).filter((_, i) => isPlayed(mode, i))) {
    const setting = autoSplit === undefined ? 'as the server' : `autoSplit: ${autoSplit}`
    t.test(`${mode}, ${emulate}, ${setting}: the last chunk ${isSplit ? 'is split and moves' : 'stays'}`, async (t) => {
      const { result } = await runVariant(parseScenario(source(emulate, mode, autoSplit), 'log.yaml').variants[0]!)
      const { splits, migrations } = result
      t.equal(splits > 0, isSplit, `${splits} splits`)
      const moved = migrations.byReason['other'] ?? 0
      t.equal(moved > 0, isSplit, `${moved} chunks at the end of the key space moved`)
    })
  }

t.test('a setting that is no boolean is refused', (t) => {
  t.throws(
    () => parseScenario(source('7.0', 'documents').replace('1MB', '1MB, autoSplit: sometimes'), 'log.yaml'),
    /cluster\.autoSplit: must be true or false/,
  )
  t.end()
})
