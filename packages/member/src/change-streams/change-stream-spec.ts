/** The argument of `$changeStream`. Server: document_source_change_stream.idl and .cpp. */
import { timestampPair, type TimestampPair } from '@shardlab/actor'
import { CommandError, firstFieldName, type RawValue } from '@shardlab/bson'
import { parseStruct } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import { highWaterMark, parseToken, type ParsedToken, type TokenVersion } from './resume-token.js'
import { scopeOf, type StreamScope } from './stream-scope.js'

export type FullDocument = 'default' | 'updateLookup' | 'whenAvailable' | 'required'
export type BeforeChange = 'off' | 'whenAvailable' | 'required'

export interface ChangeStreamSpec {
  readonly scope: StreamScope
  readonly fullDocument: FullDocument
  readonly fullDocumentBeforeChange: BeforeChange
  readonly showExpandedEvents: boolean
  readonly showMigrationEvents: boolean
  readonly showSystemEvents: boolean
  readonly showRawUpdateDescription: boolean
  /** Events that are too large for one document are returned in several. */
  readonly splitsLargeEvents: boolean
  readonly tokenVersion: TokenVersion
  /** After this token; null: now. */
  readonly start: ParsedToken | null
}

export interface ChangeStreamRequest {
  readonly ns: string
  readonly argument: RawValue
  /** Of the whole pipeline. */
  readonly stages: readonly Uint8Array[]
  readonly behaviours: Behaviours
  readonly onRouter: boolean
  /** A router has sent it: it may watch `config.shards` under each version. Default false. */
  readonly isRouted?: boolean
  /** A router that splits events itself asks for tokens that can name fragments. Default false. */
  readonly wantsFragmentTokens?: boolean
}

const fieldTypes: Readonly<Record<string, readonly string[]>> = {
  resumeAfter: ['object'],
  startAfter: ['object'],
  startAtOperationTime: ['timestamp'],
  fullDocument: ['string'],
  fullDocumentBeforeChange: ['string'],
  allChangesForCluster: ['bool'],
  showMigrationEvents: ['bool'],
  allowToRunOnConfigDB: ['bool'],
  showExpandedEvents: ['bool'],
  showSystemEvents: ['bool'],
  showRawUpdateDescription: ['bool'],
  allowToRunOnSystemNS: ['bool'],
}

const oldestOptions = [
  'resumeAfter',
  'startAtOperationTime',
  'fullDocument',
  'allChangesForCluster',
  'showMigrationEvents',
]

/**
 * @throws CommandError 20 IllegalOperation for a stage that change streams must not have, 40415 for
 *   an unknown option, 2 or 40575 for an unknown value, 72, 73, 31123, 50865, 40674, 260
 *   InvalidResumeToken, 280 ChangeStreamFatalError, and those of {@link parseToken}
 */
export function parseChangeStream(request: ChangeStreamRequest): ChangeStreamSpec {
  const { ns, argument, stages, behaviours, onRouter, isRouted = false } = request
  const names = new Set([
    ...oldestOptions,
    ...behaviours.changeStreamOptions,
    ...(isRouted ? ['allowToRunOnConfigDB'] : []),
  ])
  const fields = Object.fromEntries([...names].map((name) => [name, { types: fieldTypes[name]! }]))
  const given = parseStruct('$changeStream', argument, fields)
  const flag = (name: string) => given.get(name)?.asBool() ?? false
  const scope = scopeOf(ns, {
    allChangesForCluster: flag('allChangesForCluster'),
    allowToRunOnConfigDB: flag('allowToRunOnConfigDB'),
    allowToRunOnSystemNS: flag('allowToRunOnSystemNS'),
    onRouter,
  })
  if (onRouter && flag('showMigrationEvents'))
    throw new CommandError(31123, 'Change streams from mongos may not show migration events')
  const splitsLargeEvents = stages.some((stage) => firstFieldName(stage) === splitStage)
  const { changeStreamTokenVersion, changeStreamFragmentTokenVersion } = behaviours
  const hasFragments = splitsLargeEvents || request.wantsFragmentTokens === true
  const tokenVersion = hasFragments ? changeStreamFragmentTokenVersion : changeStreamTokenVersion
  const start = startOf(given, scope, tokenVersion)
  checkStagesOfStream(stages)
  if (start?.fragmentNum != null && !splitsLargeEvents && !isRouted)
    throw new CommandError(
      'ChangeStreamFatalError',
      `To resume from a split event, the $changeStream pipeline must include a ${splitStage} stage`,
    )
  return {
    scope,
    fullDocument: fullDocumentOf(given.get('fullDocument'), behaviours),
    fullDocumentBeforeChange: beforeChangeOf(given.get('fullDocumentBeforeChange')),
    showExpandedEvents: flag('showExpandedEvents'),
    showMigrationEvents: flag('showMigrationEvents'),
    showSystemEvents: flag('showSystemEvents'),
    showRawUpdateDescription: flag('showRawUpdateDescription'),
    splitsLargeEvents,
    tokenVersion,
    start,
  }
}

function fullDocumentOf(value: RawValue | undefined, { changeStreamImages }: Behaviours): FullDocument {
  const mode = value?.asString() ?? 'default'
  if (mode === 'default' || mode === 'updateLookup') return mode
  if (changeStreamImages && (mode === 'whenAvailable' || mode === 'required')) return mode
  throw changeStreamImages
    ? unknownValue('fullDocument', mode)
    : new CommandError(
        40575,
        `unrecognized value for the 'fullDocument' option to the $changeStream stage. Expected "default" or "updateLookup", got "${mode}"`,
      )
}

function beforeChangeOf(value: RawValue | undefined): BeforeChange {
  const mode = value?.asString() ?? 'off'
  if (mode === 'off' || mode === 'whenAvailable' || mode === 'required') return mode
  throw unknownValue('fullDocumentBeforeChange', mode)
}

function unknownValue(field: string, value: string): CommandError {
  return new CommandError(
    'BadValue',
    `Enumeration value '${value}' for field '$changeStream.${field}' is not a valid value.`,
  )
}

function startOf(
  given: ReadonlyMap<string, RawValue>,
  scope: StreamScope,
  tokenVersion: TokenVersion,
): ParsedToken | null {
  const [resumeAfter, startAfter, time] = ['resumeAfter', 'startAfter', 'startAtOperationTime'].map((name) =>
    given.get(name),
  )
  if (resumeAfter !== undefined && startAfter !== undefined)
    throw new CommandError(50865, "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage")
  const token = startAfter ?? resumeAfter
  if (token === undefined) return time === undefined ? null : startingAt(timestampPair(time), tokenVersion)
  const parsed = parseToken(token.slice())
  if (time !== undefined)
    throw new CommandError(40674, 'Only one type of resume option is allowed, but multiple were found')
  if (resumeAfter !== undefined && parsed.fromInvalidate)
    throw new CommandError(
      'InvalidResumeToken',
      "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification",
    )
  if (scope.kind === 'collection' && !parsed.hasUuid && !parsed.isHighWaterMark)
    throw new CommandError(
      'InvalidResumeToken',
      'Attempted to resume a single-collection stream, but the resume token does not include a UUID',
    )
  return parsed
}

/** The token of a stream that starts at a time. */
export function startingAt(clusterTime: TimestampPair, version: TokenVersion): ParsedToken {
  return {
    ...highWaterMark(clusterTime, version),
    ...{ clusterTime, version, isHighWaterMark: true, txnOpIndex: 0 },
    ...{ fromInvalidate: false, hasUuid: false, fragmentNum: null },
  }
}

const splitStage = '$changeStreamSplitLargeEvent'

const allowedStages: ReadonlySet<string> = new Set([
  '$addFields',
  '$changeStream',
  splitStage,
  '$match',
  '$project',
  '$redact',
  '$replaceRoot',
  '$replaceWith',
  '$set',
  '$unset',
])

function checkStagesOfStream(stages: readonly Uint8Array[]): void {
  for (const stage of stages) {
    const name = firstFieldName(stage)!
    if (!allowedStages.has(name))
      throw new CommandError('IllegalOperation', `${name} is not permitted in a $changeStream pipeline`)
  }
}

/** Whether a pipeline is a change stream. */
export function isChangeStream(stages: readonly Uint8Array[]): boolean {
  return stages[0] !== undefined && firstFieldName(stages[0]) === '$changeStream'
}

/**
 * A stream that names no read concern reads what a majority has.
 * @throws CommandError 72 InvalidOptions
 */
export function checkConcernOfStream(level: string | null): void {
  if (level !== null && level !== 'majority')
    throw new CommandError(
      'InvalidOptions',
      `Aggregation stage $changeStream cannot run with a readConcern other than 'majority'. Current readConcern: ${level}`,
    )
}
