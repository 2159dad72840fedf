import type { BalancerExplanation, ExplainedShard, ExplainedZone } from '@shardlab/cluster'
import { counted, readableSize, withReadableSizes } from '@shardlab/quantities'

/** Characters of the longest bar. */
const barWidth = 30

export function explanationText(explanation: BalancerExplanation): string {
  const { ns, balanced, answer, zones, splits, candidates, notes } = explanation
  return [
    `${ns} is ${balanced ? '' : 'not '}balanced.`,
    withReadableSizes(answer),
    '',
    ...rulesOf(explanation).map((rule) => `  ${rule}`),
    '',
    ...shardLines(explanation),
    ...section('Zones', zones.map(zoneText)),
    ...section(
      'Splits that come first',
      splits.map(({ shard, min, max, points }) => `${min} to ${max} on ${shard}, at ${points.join(', ')}`),
    ),
    ...section(
      'The next round moves',
      candidates.map(
        ({ from, to, min, max, reason, because }) =>
          `${min} to ${max} from ${from} to ${to} (${reason}): ${withReadableSizes(because)}`,
      ),
    ),
    ...section('It moves no more, because', notes.map(withReadableSizes)),
    '',
  ].join('\n')
}

function rulesOf(explanation: BalancerExplanation): string[] {
  const { policy, chunkSizeBytes, thresholdBytes, resting, activeWindow, attemptToBalanceJumboChunks, collection } =
    explanation
  const size = `chunks of up to ${bytesText(chunkSizeBytes)}`
  return [
    thresholdBytes === null
      ? `Shards are compared by ${policy}; ${size}.`
      : `Shards are compared by ${policy}: a difference of ${bytesText(thresholdBytes)} is too much; ${size}.`,
    ...(resting === null ? [] : [`No rounds now: ${resting}.`]),
    ...(activeWindow === null ? [] : [`Active window: ${activeWindow} (UTC).`]),
    ...(attemptToBalanceJumboChunks ? ['Jumbo chunks are moved, too (attemptToBalanceJumboChunks).'] : []),
    ...(collection.noBalance ? ['Balancing of this collection is switched off (noBalance).'] : []),
    ...(collection.allowMigrations ? [] : ['Migrations of this collection are not allowed (setAllowMigrations).']),
  ]
}

function shardLines({ shards, policy }: BalancerExplanation): string[] {
  const amountOf = ({ bytes, chunks }: ExplainedShard) => (policy === 'data size' ? (bytes ?? 0) : chunks)
  const most = Math.max(1, ...shards.map(amountOf))
  const rows = shards.map((shard) => {
    const cells = Math.round((amountOf(shard) / most) * barWidth)
    const bar = '#'.repeat(amountOf(shard) > 0 ? Math.max(1, cells) : 0)
    return [shard.id, bar.padEnd(barWidth), bytesText(shard.bytes), counted(shard.chunks, 'chunk'), remarksOf(shard)]
  })
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map(([id, bar, bytes, chunks, remarks]) =>
    `  ${id!.padEnd(widths[0]!)}  ${bar}  ${bytes!.padStart(widths[2]!)}  ${chunks!.padStart(widths[3]!)}  ${remarks}`.trimEnd(),
  )
}

function remarksOf({ jumboChunks, zones, draining, busyWith }: ExplainedShard): string {
  return [
    ...(jumboChunks > 0 ? [`${jumboChunks} jumbo`] : []),
    ...(zones.length > 0 ? [`zone ${zones.join(', ')}`] : []),
    ...(draining ? ['draining'] : []),
    ...(busyWith === null ? [] : [`exchanges a chunk with ${busyWith} now`]),
  ].join('; ')
}

function zoneText({ zone, chunks, shards, largestToMean }: ExplainedZone): string {
  const evenness = largestToMean === null ? '' : `; the largest has ${largestToMean.toFixed(2)} times the mean`
  return `${zone}: ${counted(chunks, 'chunk')}, on ${shards.length === 0 ? 'no shard' : shards.join(', ')}${evenness}`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)]
}

function bytesText(bytes: number | null): string {
  return bytes === null ? 'unknown' : readableSize(bytes)
}
