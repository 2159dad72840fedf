/** Manual: reference/stable-api. Server: validate_api_parameters.cpp, allowed_contexts.cpp. */
import type { CommandArguments, CommandRow } from '@shardlab/actor'
import {
  CommandError,
  documentsOf,
  DocumentWriter,
  BsonType,
  FieldIterator,
  findField,
  firstFieldName,
} from '@shardlab/bson'

/**
 * Arguments that no API version has, by command. Manual: reference/stable-api, unsupported
 * parameters.
 */
const unstableArguments: Readonly<Record<string, readonly string[]>> = {
  aggregate: ['explain', 'isMapReduceCommand'],
  create: ['autoIndexId', 'capped', 'indexOptionDefaults', 'max', 'size', 'storageEngine'],
  find: ['awaitData', 'max', 'min', 'noCursorTimeout', 'oplogReplay', 'returnKey', 'showRecordId', 'tailable'],
}

const unstableIndexOptions: readonly string[] = ['background', 'bucketSize', 'sparse', 'storageEngine']

const unstableStages: ReadonlySet<string> = new Set([
  '$currentOp',
  '$indexStats',
  '$listLocalSessions',
  '$listSearchIndexes',
  '$listSessions',
  '$planCacheStats',
  '$querySettings',
  '$search',
  '$searchMeta',
  '$shardedDataDistribution',
  '$vectorSearch',
])

/**
 * @param requireVersion the server parameter requireApiVersion
 * @throws CommandError 498870, 4886600, 322 APIVersionError, 323 APIStrictError, 324
 *   APIDeprecationError
 */
export function checkApiVersion(args: CommandArguments, row: CommandRow<never>, requireVersion: boolean): void {
  const version = args.string('apiVersion')
  if (version === undefined) {
    if (args.has('apiStrict') || args.has('apiDeprecationErrors'))
      throw new CommandError(4886600, 'Provided apiStrict and/or apiDeprecationErrors without passing apiVersion')
    if (requireVersion)
      throw new CommandError(
        498870,
        "The apiVersion parameter is required, please configure your MongoClient's API version",
      )
    return
  }
  if (version === '2') throw new CommandError('APIVersionError', 'Cannot accept API version 2')
  if (version !== '1') throw new CommandError('APIVersionError', 'API version must be "1"')
  if (args.bool('apiStrict') === true) checkStrict(args, row)
  if (args.bool('apiDeprecationErrors') === true && row.apiDeprecated === true) {
    throw new CommandError(
      'APIDeprecationError',
      `Provided apiDeprecationErrors:true, but the command ${row.name} is deprecated in API Version ${version}.`,
    )
  }
}

/** Server: APIParameters::appendInfo. */
export function apiParameters(args: CommandArguments): DocumentWriter {
  const writer = new DocumentWriter(128)
  const version = args.string('apiVersion')
  if (version !== undefined) writer.string('apiVersion', version)
  for (const name of ['apiStrict', 'apiDeprecationErrors']) {
    const value = args.bool(name)
    if (value !== undefined) writer.bool(name, value)
  }
  return writer
}

function checkStrict(args: CommandArguments, row: CommandRow<never>): void {
  if (row.apiVersion1 !== true) {
    throw new CommandError(
      'APIStrictError',
      `Provided apiStrict:true, but the command ${row.name} is not in API Version 1. Information on supported commands and migrations in API Version 1 can be found at https://dochub.mongodb.org/core/manual-versioned-api.`,
    )
  }
  if (row.access === 'write' && args.target.type === BsonType.string && args.target.asString() === 'system.js')
    throw new CommandError(
      'APIStrictError',
      `Provided apiStrict:true, but the command ${row.name} attempts to write to system.js.`,
    )
  for (const name of unstableArguments[row.name] ?? [])
    if (args.has(name)) throw unstableArgument(`${args.command}.${name}`)
  if (row.name === 'createIndexes') checkIndexes(args)
  if (row.name === 'aggregate') checkStages(args)
}

function checkIndexes(args: CommandArguments): void {
  for (const index of args.documents('indexes') ?? [])
    for (const name of unstableIndexOptions)
      if (findField(index, name) !== undefined) throw unstableArgument(`createIndexes.indexes.${name}`)
}

function checkStages(args: CommandArguments): void {
  const pipeline = args.value('pipeline')
  if (pipeline === undefined) return
  for (const it = new FieldIterator(pipeline.bytes, pipeline.start); it.next();) if (it.type !== BsonType.object) return
  for (const stage of documentsOf(pipeline)) {
    const name = firstFieldName(stage)
    if (name === undefined) continue
    if (unstableStages.has(name))
      throw new CommandError('APIStrictError', `${name} is not allowed with 'apiStrict: true' in API Version 1`)
    if (name === '$collStats') checkCollStats(findField(stage, name)!)
  }
}

function checkCollStats({ type, bytes, start }: { type: number; bytes: Uint8Array; start: number }): void {
  if (type !== BsonType.object) return
  for (const it = new FieldIterator(bytes, start); it.next();)
    if (it.name() !== 'count')
      throw new CommandError('APIStrictError', "only the 'count' option to $collStats is supported in API Version 1")
}

function unstableArgument(path: string): CommandError {
  return new CommandError('APIStrictError', `BSON field '${path}' is not allowed with apiStrict:true.`)
}
