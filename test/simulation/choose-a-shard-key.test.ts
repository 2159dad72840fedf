/** docs/guides/choose-a-shard-key.md: its commands give the output and the numbers of the guide. */
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { createSimulatedCluster } from '@shardlab/cluster'
import { blocksOf, GuideShell, shown } from '../support/guide-shell.js'

const guide = await readFile(new URL('../../../docs/guides/choose-a-shard-key.md', import.meta.url), 'utf8')

/**
 * Leaves out lists of a hundred numbers, as the guide does; the number of split points of a random
 * sample may change.
 */
const comparable = (text: string) =>
  text
    .replace(/(num(?:Reads|Writes)ByRange): \[[^\]]*\]/g, '$1: [ … ]')
    .replace(/only make \d+ chunks/, 'only make … chunks')

t.test('the commands of the guide give its output', async (t) => {
  await using cluster = await createSimulatedCluster({ seed: 7, emulate: '7.0', shards: 3, mongos: 1 })
  const shell = new GuideShell(cluster, 'shop')
  const rows = [...guide.matchAll(/^\| `(\{.+?\})` \|(.+)\|$/gm)].map(([, key, cells]) => [key!, cells!] as const)
  t.equal(rows.length, 4)
  for (const { code, output } of blocksOf(guide)) {
    const value = await shell.run(code).catch((error: Error) => error)
    if (output !== null)
      t.equal(comparable(value instanceof Error ? value.message : shown(value)), comparable(output), code)
    else if (value instanceof Error) throw value
    if (!code.includes("mode: 'off'")) continue
    // The samples still exist.
    for (const [key, cells] of rows) {
      const { readDistribution: reads, writeDistribution: writes } = (await shell.run(
        `db.orders.analyzeShardKey(${key}, { keyCharacteristics: false })`,
      )) as Record<string, Record<string, number>>
      const figures = [
        ...[
          reads!['percentageOfSingleShardReads'],
          reads!['percentageOfMultiShardReads'],
          reads!['percentageOfScatterGatherReads'],
        ],
        ...[
          writes!['percentageOfSingleShardWrites'],
          writes!['percentageOfMultiShardWrites'],
          writes!['percentageOfScatterGatherWrites'],
        ],
      ]
      const byRange = reads!['numReadsByRange'] as unknown as number[]
      if (key.startsWith('{ customer')) t.ok(byRange[5]! > 1.8 * byRange[60]!, 'the ranges of acme are hot')
      t.equal(cells, figures.map((figure) => ` ${String(figure)} `).join('|'), key)
    }
  }
})
