/**
 * Manual: reference/command/create. Server: create_command.cpp, create.idl, collection_options.cpp.
 */
import type { CommandArguments } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  findField,
  isEmptyDocument,
  typeName,
  valuesEqual,
  type RawValue,
} from '@shardlab/bson'
import { compileCollation, formatDocument, internalDatabases } from '@shardlab/query'
import { cappedMaxDocuments, cappedSizeBytes, isIdKey, validateIndexSpec } from '@shardlab/storage'
import { splitNamespace, refuseTemporary } from '@shardlab/member'
import type { NodeHost } from '../host/node-host.js'
import { checkValidator } from '../validation/check-validator.js'
import { requestsClusteredIndex, writeClusteredIndex } from './clustered-index.js'

const storedOrder = [
  'capped',
  'size',
  'max',
  'autoIndexId',
  'temp',
  'changeStreamPreAndPostImages',
  'storageEngine',
  'indexOptionDefaults',
  'validator',
  'validationLevel',
  'validationAction',
  'collation',
  'clusteredIndex',
  'expireAfterSeconds',
  'viewOn',
  'pipeline',
] as const

const cappedSizeBytesMax = 2 ** 50

/**
 * The stored form of the options of `create`, including those of a view.
 * @param mayBeTemporary true for members of the cluster, which may create temporary collections;
 *   clients may not
 * @throws CommandError 72 InvalidOptions, 51024, 2 BadValue, 40415 IDLUnknownField, and the errors
 *   of validators, collations and index specifications
 */
export function collectionOptions(
  node: NodeHost,
  ns: string,
  args: CommandArguments,
  mayBeTemporary = false,
): Uint8Array {
  checkVersion(node, args)
  if (!mayBeTemporary) refuseTemporary(args.bool('temp'))
  checkCapped(args)
  checkCombinations(args)
  checkIdIndex(args)
  const writer = new DocumentWriter(256)
  if (args.bool('capped') === true) {
    writer.bool('capped', true)
    writer.integer('size', cappedSizeBytes(args.number('size')!))
    if (args.has('max')) writer.integer('max', Math.trunc(cappedMaxDocuments(args.number('max')!)))
  }
  if (args.has('autoIndexId')) writer.bool('autoIndexId', args.bool('autoIndexId')!)
  if (args.bool('temp') === true) writer.bool('temp', true)
  if (preImagesOption(ns, args.document('changeStreamPreAndPostImages')))
    writer.startDocument('changeStreamPreAndPostImages').bool('enabled', true).end()
  writeStorageOptions(writer, args)
  writeValidation(node, ns, writer, args)
  const collation = args.document('collation')
  if (collation !== undefined) {
    if (isEmptyDocument(collation)) throw new CommandError('BadValue', "'collation' cannot be an empty document.")
    const compiled = compileCollation(collation)
    if (compiled !== null) writer.document('collation', compiled.document)
  }
  writeClusteredIndex(writer, args, node.context.now())
  for (const name of ['viewOn', 'pipeline'] as const) if (args.has(name)) writer.value(name, args.value(name)!)
  return writer.finish()
}

export function listedOptions(options: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(options.length + 16)
  for (const name of storedOrder) {
    const value = findField(options, name)
    if (value === undefined) continue
    // collMod stores an empty validator to remove it.
    if (name === 'validator' && isEmptyDocument(value.bytes, value.start)) continue
    writer.value(name, value)
  }
  return writer.finish()
}

/** Server: CollectionOptions::matchesStorageOptions. */
export function sameOptions(stored: Uint8Array, requested: Uint8Array): boolean {
  return storedOrder.every(
    (name) =>
      name === 'changeStreamPreAndPostImages' || valuesEqual(findField(stored, name), findField(requested, name)),
  )
}

/** `changeStreamPreAndPostImages.enabled`. @throws CommandError 40414, 40415, 72 InvalidOptions */
export function preImagesOption(ns: string, document: Uint8Array | undefined): boolean {
  if (document === undefined) return false
  for (const it = new FieldIterator(document); it.next();) {
    if (it.name() !== 'enabled')
      throw new CommandError(40415, `BSON field 'changeStreamPreAndPostImages.${it.name()}' is an unknown field.`)
  }
  const enabled = findField(document, 'enabled')
  if (enabled === undefined)
    throw new CommandError(40414, "BSON field 'changeStreamPreAndPostImages.enabled' is missing but a required field")
  if (enabled.type !== BsonType.bool) {
    throw new CommandError(
      'TypeMismatch',
      `BSON field 'changeStreamPreAndPostImages.enabled' is the wrong type '${typeName(enabled.type)}', expected type 'bool'`,
    )
  }
  const [db] = splitNamespace(ns)
  if (enabled.asBool() && internalDatabases.has(db))
    throw new CommandError(
      'InvalidOptions',
      `changeStreamPreAndPostImages collection option is not supported on the ${db} database`,
    )
  return enabled.asBool()
}

export function checkEnumeration(command: string, name: 'validationLevel' | 'validationAction', value: string): void {
  const values = name === 'validationLevel' ? ['off', 'strict', 'moderate'] : ['error', 'warn']
  if (!values.includes(value))
    throw new CommandError(
      'BadValue',
      `Enumeration value '${value}' for field '${command}.${name}' is not a valid value.`,
    )
}

function checkVersion(node: NodeHost, args: CommandArguments): void {
  const { behaviours } = node
  if (args.bool('recordPreImages') === true)
    throw new CommandError('InvalidOptions', 'recordPreImages is not supported on a sharded cluster')
  for (const name of [
    'timeseries',
    'encryptedFields',
    ...(behaviours.clusteredCollections ? [] : ['clusteredIndex']),
  ]) {
    if (args.value(name)?.isTruthy() === true)
      throw new CommandError('InvalidOptions', `'${name}' collections are not supported`)
  }
  if (args.has('expireAfterSeconds') && !requestsClusteredIndex(args)) {
    throw new CommandError(
      'InvalidOptions',
      "'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified",
    )
  }
}

function checkCapped(args: CommandArguments): void {
  if (requestsClusteredIndex(args)) return
  const capped = args.bool('capped') === true
  const size = args.number('size')
  const max = args.number('max')
  const bounds = (name: string, value: number, relation: string, bound: number): CommandError =>
    new CommandError(
      51024,
      `BSON field '${name}' value must be ${relation} ${bound}, actual value '${Math.trunc(value)}'`,
    )
  if (size !== undefined && size < 1) throw bounds('size', size, '>=', 1)
  if (size !== undefined && size > cappedSizeBytesMax) throw bounds('size', size, '<=', cappedSizeBytesMax)
  if (max !== undefined && max >= 2 ** 31) throw bounds('max', max, '<', 2 ** 31)
  if (capped && size === undefined)
    throw new CommandError('InvalidOptions', "the 'size' field is required when 'capped' is true")
  if (!capped && (size !== undefined || max !== undefined)) {
    throw new CommandError(
      'InvalidOptions',
      "the 'capped' field needs to be true when either the 'size' or 'max' fields are present",
    )
  }
}

function checkCombinations(args: CommandArguments): void {
  if (args.string('viewOn') === '') throw new CommandError('BadValue', "'viewOn' cannot be empty")
  if (args.has('pipeline') && !args.has('viewOn'))
    throw new CommandError('InvalidOptions', "'pipeline' requires 'viewOn' to also be specified")
  args.pipeline()
}

function checkIdIndex(args: CommandArguments): void {
  const idIndex = args.document('idIndex')
  if (idIndex === undefined) return
  if (args.has('viewOn'))
    throw new CommandError('InvalidOptions', `'idIndex' is not allowed with 'viewOn': ${formatDocument(idIndex)}`)
  if (args.bool('autoIndexId') === true)
    throw new CommandError('InvalidOptions', `'idIndex' is not allowed with 'autoIndexId': ${formatDocument(idIndex)}`)
  const key = findField(idIndex, 'key')
  if (key?.type === BsonType.object && !isIdKey(key.slice()))
    throw new CommandError(
      'BadValue',
      `The field 'key' for an _id index must be {_id: 1}, but got ${formatDocument(key.slice())}`,
    )
  validateIndexSpec(idIndex)
  const own = findField(idIndex, 'collation')
  const compiled = own === undefined ? null : compileCollation(own.slice())
  const collection = args.document('collation')
  const wanted = collection === undefined ? null : compileCollation(collection)
  if (
    own !== undefined &&
    Buffer.compare(compiled?.document ?? Buffer.alloc(0), wanted?.document ?? Buffer.alloc(0)) !== 0
  )
    throw new CommandError('BadValue', "'idIndex' must have the same collation as the collection.")
}

function writeStorageOptions(writer: DocumentWriter, args: CommandArguments): void {
  const storageEngine = args.document('storageEngine')
  if (storageEngine !== undefined) {
    checkStorageEngine('storageEngine', storageEngine)
    if (!isEmptyDocument(storageEngine)) writer.document('storageEngine', storageEngine)
  }
  const defaults = args.document('indexOptionDefaults')
  if (defaults === undefined) return
  for (const it = new FieldIterator(defaults); it.next();) {
    if (it.name() !== 'storageEngine')
      throw new CommandError(40415, `BSON field 'create.indexOptionDefaults.${it.name()}' is an unknown field.`)
    if (it.type !== BsonType.object) {
      throw new CommandError(
        'TypeMismatch',
        `BSON field 'create.indexOptionDefaults.storageEngine' is the wrong type '${typeName(it.type)}', expected type 'object'`,
      )
    }
    checkStorageEngine('storageEngine', it.value().slice())
  }
  if (findField(defaults, 'storageEngine') !== undefined) writer.document('indexOptionDefaults', defaults)
}

/** Server: validateStorageEngineOptions. */
function checkStorageEngine(option: string, engines: Uint8Array): void {
  for (const it = new FieldIterator(engines); it.next();) {
    const name = it.name()
    if (it.type !== BsonType.object)
      throw new CommandError('BadValue', `${option}.${name} has to be an embedded document.`)
    if (name !== 'wiredTiger')
      throw new CommandError('InvalidOptions', `${name} is not a registered storage engine for this server`)
  }
}

function writeValidation(node: NodeHost, ns: string, writer: DocumentWriter, args: CommandArguments): void {
  const validator = args.document('validator')
  if (validator !== undefined && !isEmptyDocument(validator)) {
    checkValidator(node, ns, validator, args.document('collation') ?? null)
    writer.document('validator', validator)
  }
  for (const name of ['validationLevel', 'validationAction'] as const) {
    const value = args.string(name)
    if (value === undefined) continue
    checkEnumeration('create', name, value)
    writer.string(name, value)
  }
}

export function pipelineOf(options: Uint8Array): Uint8Array[] {
  const pipeline: RawValue | undefined = findField(options, 'pipeline')
  return pipeline === undefined ? [] : elementsOf(pipeline).map((stage) => stage.slice())
}
