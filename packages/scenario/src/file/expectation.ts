/**
 * Compare a number of the result, given by its path: `imbalance.last < 1.2`, `bytesMoved <= 20MB`.
 */
import { QuantityError, suggestion } from '@shardlab/quantities'
import { percent } from '../report/format.js'
import { memberName } from './member-name.js'
import { parseBytes, parseTime } from './quantities.js'

const operators: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
}

export interface Expectation {
  readonly text: string
  readonly path: string
  readonly operator: string
  readonly value: number
}

export interface FailedExpectation {
  readonly expect: string
  readonly path: string
  /** null: the result has no such number, such as a convergence time without convergence. */
  readonly actual: number | null
  readonly message: string
}

const grammar = /^\s*([A-Za-z](?:[\w.]|-\w)*)\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*$/

const ofShard = /^(shards|drains|reshardings\.\d+\.receivedBytes)\.(\w+)/

type Kind = 'count' | 'ratio' | 'share' | 'size' | 'time'

const moments = ['first', 'worst', 'last'] as const

/** Numbers of `VariantResult` (types.ts) and their units. */
const numbers: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...moments.map((moment) => [`imbalance.${moment}`, 'ratio'] as const),
  ...(['bytes', 'chunks', 'operations'] as const).flatMap((of) =>
    moments.flatMap((moment) => [
      [`imbalance.${of}.${moment}.maxToMean`, 'ratio'] as const,
      [`imbalance.${of}.${moment}.deviation`, of === 'bytes' ? 'size' : 'count'] as const,
    ]),
  ),
  ...['total', 'aborted', 'repeated', 'returned'].map((name) => [`migrations.${name}`, 'count'] as const),
  ...['draining', 'zoneViolation', 'chunksImbalance', 'defragment', 'other'].map(
    (name) => [`migrations.byReason.${name}`, 'count'] as const,
  ),
  ...['splits', 'merges', 'jumboChunks', 'orphans.worst', 'orphans.last'].map((name) => [name, 'count'] as const),
  ['bytesMoved', 'size'],
  ['bytesMovedLeast', 'size'],
  ...['convergedAtMs', 'criticalSections.longestMs', 'criticalSections.totalMs'].map((name) => [name, 'time'] as const),
  ['operations.total', 'count'],
  ['operations.failed', 'count'],
  ['transactions.committed', 'count'],
  ['transactions.failed', 'count'],
  ['transactions.participants', 'count'],
  ...['elections', 'failedElections', 'stepDowns', 'rollbacks', 'rolledBackEntries'].map(
    (name) => [`replication.${name}`, 'count'] as const,
  ),
  ['replication.longestWithoutPrimaryMs', 'time'],
  ['replication.worstLagMs', 'time'],
  ...['p50', 'p99', 'max'].map((name) => [`operations.latencyMs.${name}`, 'time'] as const),
  ...['targeted', 'multi', 'broadcast'].map((name) => [`operations.routed.${name}`, 'share'] as const),
  ['hottest.share', 'share'],
  ['balancing.windows', 'count'],
  ['balancing.openMs', 'time'],
  ['balancing.bytesInBusiest', 'size'],
  ['balancing.bytesPerHour', 'size'],
])

/** Numbers by the name of a shard, a zone or a collection, a code of an error, or a position. */
const named: readonly (readonly [path: RegExp, kind: Kind])[] = [
  [/^operations\.errors\.-?\d+$/, 'count'],
  [/^shards\.[\w-]+\.(?:peak\.)?(?:bytes|diskBytes)$/, 'size'],
  [/^shards\.[\w-]+\.(?:sentBytes|receivedBytes)$/, 'size'],
  [/^shards\.[\w-]+\.(?:orphans|peak\.orphans|chunks|operations)$/, 'count'],
  [/^imbalance\.zones\.[\w-]+\.(?:first|worst|last)\.maxToMean$/, 'ratio'],
  [/^imbalance\.zones\.[\w-]+\.(?:first|worst|last)\.deviation$/, 'size'],
  [/^drains\.[\w-]+\.bytes$/, 'size'],
  [/^drains\.[\w-]+\.(?:migrations|windows)$/, 'count'],
  [/^drains\.[\w-]+\.(?:beganMs|removedMs)$/, 'time'],
  [/^reshardings\.\d+\.(?:bytes|receivedBytes\.[\w-]+)$/, 'size'],
  [/^reshardings\.\d+\.(?:cloneMs|blockedMs|beganMs|endedMs)$/, 'time'],
  [/^reshardingNeeds\.[\w-]+\.[\w.-]+\.(?:bytes|indexBytes|freeBytesPerShard)$/, 'size'],
  [/^reshardingNeeds\.[\w-]+\.[\w.-]+\.leastMs$/, 'time'],
]

function kindOf(path: string): Kind | null {
  return numbers.get(path) ?? named.find(([pattern]) => pattern.test(path))?.[1] ?? null
}

/** @returns the expectation, or what is wrong with the text */
export function parseExpectation(text: string): Expectation | string {
  const match = grammar.exec(text)
  if (match === null)
    return `${JSON.stringify(text)} is not an expectation: write one such as "imbalance.last < 1.2" or "migrations.total <= 400"`
  const [, given, operator, written] = match as unknown as [string, string, string, string]
  const path = given.replace(ofShard, (_, of: string, shard: string) => `${of}.${memberName(shard)}`)
  const kind = kindOf(path)
  if (kind === null) {
    return `${path} is not a number of the result; ${suggestion(path, [...numbers.keys()]) ?? 'docs/guides/simulate.md lists them'}`
  }
  try {
    return { text, path, operator, value: numberOf(written, kind) }
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error
    return `${JSON.stringify(text)} compares with ${written}, which ${error.message}`
  }
}

/** @throws QuantityError */
function numberOf(text: string, kind: Kind): number {
  const isNumber = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)
  if (kind === 'share') return shareOf(text)
  // Zero needs no unit.
  if (isNumber && (kind === 'count' || kind === 'ratio' || Number(text) === 0)) return Number(text)
  if (kind === 'size') return parseBytes(text)
  if (kind === 'time') return parseTime(text)
  const percent = percentIn(text)
  if (percent !== null && kind === 'ratio') return percent
  throw new QuantityError(kind === 'count' ? 'must be a number' : 'must be a number, or a share such as 40%')
}

/** Without its unit, `40%` would be met by every result. @throws QuantityError */
function shareOf(text: string): number {
  const share = percentIn(text) ?? (/^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN)
  if (share >= 0 && share <= 1) return share
  throw new QuantityError('must be a share from 0 to 1, such as 0.4 or 40%')
}

function percentIn(text: string): number | null {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)
  return percent === null ? null : Number(percent[1]) / 100
}

/** @param result the variant's, without series */
export function failedExpectations(result: unknown, texts: readonly string[]): FailedExpectation[] {
  return texts.flatMap((text) => {
    const { path, operator, value } = parseExpectation(text) as Expectation
    const actual = numberAt(result, path)
    if (actual !== null && operators[operator]!(actual, value)) return []
    const message = `expected ${text}, but ${actual === null ? `the result has no value for ${path}` : `it is ${shown(actual, path)}`}`
    return [{ expect: text, path, actual, message }]
  })
}

function numberAt(result: unknown, path: string): number | null {
  // A collection has a dot in its name.
  const [, needs, ns, last] = /^(reshardingNeeds)\.(.+)\.(\w+)$/.exec(path) ?? []
  const parts = needs === undefined ? path.split('.') : [needs, ns!, last!]
  const value = parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | null | undefined)?.[part], result)
  if (typeof value === 'number') return value
  // The result lists only errors that occurred.
  return path.startsWith('operations.errors.') ? 0 : null
}

function shown(value: number, path: string): string {
  if (kindOf(path) === 'share') return percent(value)
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)))
}
