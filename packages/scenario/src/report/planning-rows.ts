/** What the balancer's work costs: for planning a real cluster. */
import { counted } from '@shardlab/quantities'
import type { DrainResult, ReshardingNeeds, ReshardingResult as Resharding, VariantResult } from '../types.js'
import { bytesText, timeText, whole } from './format.js'
import { nothing, type ResultRow } from './result-row.js'

export function planningRows(results: readonly VariantResult[]): ResultRow[] {
  const resharded = [...new Set(results.flatMap(({ reshardings }) => reshardings.map(({ ns }) => ns)))].toSorted()
  const collections = [...new Set(results.flatMap(({ reshardingNeeds }) => Object.keys(reshardingNeeds)))].toSorted()
  const drained = [...new Set(results.flatMap(({ drains }) => Object.keys(drains)))].toSorted()
  return [
    ['balancer windows / open hours', (result) => windowsText(result)],
    [
      'moved in the busiest balancer window / per open hour',
      ({ balancing: { bytesInBusiest, bytesPerHour } }) =>
        bytesInBusiest === 0 ? nothing : `${bytesText(bytesInBusiest)} / ${bytesText(bytesPerHour)}`,
    ],
    ['network, most sent / received by a shard', (result) => networkText(result)],
    ...resharded.map((ns): ResultRow => [
      `resharding of ${ns}`,
      ({ reshardings }) =>
        reshardings
          .filter((each) => each.ns === ns)
          .map(reshardingText)
          .join('; ') || nothing,
    ]),
    ...collections.map((ns): ResultRow => [
      `to reshard ${ns} at the end: free disk of each shard / least time`,
      ({ reshardingNeeds }) => needsText(reshardingNeeds[ns]),
    ]),
    ...drained.map((shard): ResultRow => [`drain of ${shard}`, ({ drains }) => drainText(drains[shard])]),
  ]
}

function reshardingText({
  key,
  bytes,
  beganMs,
  endedMs,
  isAborted,
  cloneMs,
  blockedMs,
  receivedBytes,
}: Resharding): string {
  const state = endedMs === null ? 'not done at the end' : isAborted ? 'aborted' : `in ${timeText(endedMs - beganMs)}`
  const cloning = cloneMs === null ? '' : ` (cloning ${timeText(cloneMs)})`
  const blocked = blockedMs === 0 ? '' : `, writes blocked for ${whole(blockedMs)} ms`
  const [most] = Object.entries(receivedBytes).toSorted(([, a], [, b]) => b - a)
  const received = most === undefined ? '' : `, ${most[0]} received ${bytesText(most[1])}`
  return `to ${key}: ${bytesText(bytes)} ${state}${cloning}${blocked}${received}`
}

function needsText(needs: ReshardingNeeds | undefined): string {
  return needs === undefined ? nothing : `${bytesText(needs.freeBytesPerShard)} / ${timeText(needs.leastMs)}`
}

function windowsText({ balancing: { windows, openMs }, durationMs }: VariantResult): string {
  if (openMs === durationMs) return nothing
  const hours = openMs / 3_600_000
  return `${windows} / ${hours < 10 ? Number(hours.toPrecision(2)) : Math.round(hours)} h`
}

function networkText({ shards }: VariantResult): string {
  const most = (of: (shard: VariantResult['shards'][string]) => number): string => {
    const [first] = Object.entries(shards).toSorted(([, a], [, b]) => of(b) - of(a))
    return first === undefined ? nothing : `${first[0]} ${bytesText(of(first[1]))}`
  }
  if (Object.values(shards).every(({ sentBytes, receivedBytes }) => sentBytes + receivedBytes === 0)) return nothing
  return `${most(({ sentBytes }) => sentBytes)} / ${most(({ receivedBytes }) => receivedBytes)}`
}

function drainText(drain: DrainResult | undefined): string {
  if (drain === undefined) return nothing
  const { beganMs, removedMs, bytes, migrations, windows } = drain
  const work = `${bytesText(bytes)} in ${counted(migrations, 'migration')} and ${counted(windows, 'window')}`
  return removedMs === null
    ? `${work}, not removed at the end`
    : `${work}, removed after ${timeText(removedMs - beganMs)}`
}
