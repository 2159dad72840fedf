/** Server: query_settings_cmds.cpp, query_settings_service.cpp. */
import { checkDatabaseName, CommandArguments } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  findField,
  firstFieldName,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import {
  aggregateSpec,
  compileDistinct,
  compileFind,
  distinctSpec,
  evaluationOf,
  findSpec,
  isLookupById,
  refusalOfNamespace,
  stageExemptFromRejection,
  type QuerySettingsTable,
} from '@shardlab/member'
import { compilePipeline, formatDocument, queryShape, queryShapeHash } from '@shardlab/query'
import type { NodeHost } from '../host/node-host.js'
import { isWithoutIndexes, parseSettings, settingNames, simplified, type Settings } from './parse-settings.js'

export interface ChangedSettings {
  readonly configurations: readonly Uint8Array[]
  /** Null: it was removed, or did not exist. */
  readonly changed: Uint8Array | null
}

interface ShapeOfQuery {
  readonly hash: string
  /** Null: the client has given the hash only. */
  readonly query: Uint8Array | null
}

/**
 * @param command setQuerySettings or removeQuerySettings, with checked fields
 * @throws CommandError for an invalid query or settings, or a query that can have no settings
 */
export function changeQuerySettings(
  node: NodeHost,
  known: QuerySettingsTable | null,
  command: Uint8Array,
): ChangedSettings {
  const name = firstFieldName(command)!
  const target = findField(command, name)!
  const configurations = known?.configurations ?? []
  const isKnown = (hash: string) => (configuration: Uint8Array) => hashIn(configuration) === hash
  if (name === 'removeQuerySettings') {
    const { hash } = shapeOfTarget(node, name, target)
    const others = configurations.filter((configuration) => !isKnown(hash)(configuration))
    return { configurations: others, changed: null }
  }
  const given = parseSettings(findField(command, 'settings')!.slice(), node.behaviours.language)
  const { hash, query } = shapeOfTarget(node, name, target)
  if (query !== null) checkTakesSettings(query)
  const at = configurations.findIndex(isKnown(hash))
  const before = at < 0 ? undefined : configurations[at]
  const representative = query ?? (before === undefined ? null : representativeOf(before))
  const settings = new Map([...(before === undefined ? [] : settingsIn(before)), ...given])
  if (query !== null) checkRejection(query, settings)
  const changed = configurationOf(hash, simplified(settings), representative)
  return { configurations: at < 0 ? [...configurations, changed] : configurations.with(at, changed), changed }
}

const hashDigits = 64

/**
 * @throws CommandError 14 TypeMismatch, 2 BadValue, 12 UnsupportedFormat, and those of
 *   {@link shapeOf}
 */
function shapeOfTarget(node: NodeHost, command: string, target: RawValue): ShapeOfQuery {
  if (target.type === BsonType.object) return shapeOf(node, target.slice())
  if (target.type !== BsonType.string)
    throw new CommandError(
      'TypeMismatch',
      `BSON field '${command}.${command}' is the wrong type '${typeName(target.type)}', expected types '[string, object]'`,
    )
  const hash = target.asString()
  if (hash.length % 2 > 0 || !/^[0-9a-f]*$/i.test(hash))
    throw new CommandError('BadValue', 'Hash input is not a hex string')
  if (hash.length !== hashDigits)
    throw new CommandError('UnsupportedFormat', `Unsupported SHA256Block hash length: ${hash.length / 2}`)
  return { hash: hash.toUpperCase(), query: null }
}

const specs = { find: findSpec, distinct: distinctSpec, aggregate: aggregateSpec }

/** @throws CommandError 7746402 for another command, and those of the command's own parsing */
function shapeOf(node: NodeHost, query: Uint8Array): ShapeOfQuery {
  const name = firstFieldName(query) ?? ''
  if (!Object.hasOwn(specs, name))
    throw new CommandError(7746402, `QueryShape can not be computed for command: ${formatDocument(query)}`)
  const owner = `${name}CommandRequest`
  const args = CommandArguments.parse(
    query,
    specs[name as keyof typeof specs].fields,
    [],
    (_command, field) => new CommandError(40415, `BSON field '${owner}.${field}' is an unknown field.`),
  )
  const db = args.string('$db')
  if (db === undefined) throw new CommandError(40414, `BSON field '${owner}.$db' is missing but a required field`)
  checkDatabaseName(db)
  const evaluation = evaluationOf(node, args)
  if (name === 'aggregate')
    compilePipeline(args.pipeline()!, evaluation, { db, target: args.target.isNumber() ? 'none' : 'collection' })
  else {
    args.collectionName(db)
    if (name === 'find') compileFind(args, evaluation)
    else compileDistinct(args, evaluation)
  }
  return { hash: queryShapeHash(queryShape(query, db)!), query }
}

/** @throws CommandError 8584900, 8584901, 7746606 */
function checkTakesSettings(query: Uint8Array): void {
  const refusal = refusalOfNamespace(query, findField(query, '$db')!.asString())
  if (refusal !== null) throw refusal
  if (isLookupById(query))
    throw new CommandError(7746606, 'setQuerySettings command cannot be used on find queries eligible for IDHACK')
}

/** @throws CommandError 8705200 */
function checkRejection(query: Uint8Array, settings: Settings): void {
  const stage = stageExemptFromRejection(query)
  if (stage !== null && settings.get('reject')?.isTruthy() === true)
    throw new CommandError(8705200, `Setting {reject:true} is forbidden for query containing stage: ${stage}`)
}

function hashIn(configuration: Uint8Array): string {
  return findField(configuration, 'queryShapeHash')!.asString()
}

function representativeOf(configuration: Uint8Array): Uint8Array | null {
  return findField(configuration, 'representativeQuery')?.slice() ?? null
}

function settingsIn(configuration: Uint8Array): [string, RawValue][] {
  const settings = findField(configuration, 'settings')!
  return settingNames.flatMap((name) => {
    const value = findField(settings.bytes, name, settings.start)
    return value === undefined ? [] : [[name, value] as [string, RawValue]]
  })
}

function configurationOf(hash: string, settings: Settings, representative: Uint8Array | null): Uint8Array {
  const writer = new DocumentWriter(512).string('queryShapeHash', hash).startDocument('settings')
  for (const name of settingNames) {
    const value = settings.get(name)
    if (name === 'indexHints' && value?.type === BsonType.array)
      writer.documents(
        name,
        elementsOf(value)
          .map((specification) => specification.slice())
          .filter((specification) => !isWithoutIndexes(specification)),
      )
    else if (value !== undefined) writer.value(name, value)
  }
  writer.end()
  if (representative !== null) writer.document('representativeQuery', representative)
  return writer.finish()
}
