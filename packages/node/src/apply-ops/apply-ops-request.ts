/**
 * Arguments of applyOps. Server: apply_ops_cmd.cpp, oplog_application_checks.cpp,
 * apply_ops_command_info.cpp.
 */
import {
  BsonType,
  CommandError,
  documentsOf,
  FieldIterator,
  fieldsOf,
  findField,
  noCode,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { withContext } from '@shardlab/member'
import { wrongType } from '@shardlab/actor'
import { formatDocument } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'

export interface ApplyOpsRequest {
  readonly operations: readonly Uint8Array[]
  readonly alwaysUpsert: boolean
  /** All operations or none take effect. */
  readonly isAtomic: boolean
  /** Each is `{ ns, q, res }`. */
  readonly preConditions: readonly Uint8Array[]
}

const nestingMax = 10

/** @throws CommandError 4 NoSuchKey, 9 FailedToParse, 14 TypeMismatch, 20 IllegalOperation, … */
export function readApplyOps(body: Uint8Array, behaviours: Behaviours): ApplyOpsRequest {
  const mode = behaviours.applyOpsMode
  const target = firstValue(body)!
  if (mode !== 'lenient') checkNesting(target, body)
  checkOperations(target, mode === 'lenient')
  const request = parse(body, target, behaviours)
  if (behaviours.applyOpsParsesEntries) refuseTransactionFields(body)
  return request
}

/** Server: validateApplyOpsCommand. */
function checkNesting(target: RawValue, body: Uint8Array, depth = 0): void {
  checkType(target, fieldsOf(body)[0]![0], BsonType.array)
  for (const it = new FieldIterator(target.bytes, target.start); it.next();) {
    checkType(it.value(), it.name(), BsonType.object)
    const operation = it.value().slice()
    const op = findField(operation, 'op')
    checkType(op, 'op', BsonType.string)
    if (op!.asString() !== 'c') continue
    checkType(findField(operation, 'o'), 'o', BsonType.object)
    const command = findField(operation, 'o')!.slice()
    const nested = firstValue(command)
    if (nested === undefined || fieldsOf(command)[0]![0] !== 'applyOps') continue
    if (depth === nestingMax) throw new CommandError('FailedToParse', 'Too many nested applyOps')
    checkNesting(nested, command, depth + 1)
  }
}

function checkType(value: RawValue | undefined, name: string, type: number): void {
  if (value?.type === type) return
  throw new CommandError(
    value === undefined ? 'NoSuchKey' : 'TypeMismatch',
    `Wrong type for '${value === undefined ? '' : name}'. Expected a ${typeName(type)}, got a ${typeName(value?.type)}.`,
  )
}

/** Server: OplogApplicationChecks::checkOperationArray; until 2.6 without codes. */
function checkOperations(target: RawValue, withoutCodes: boolean): void {
  const error = (code: 'FailedToParse' | 'IllegalOperation', message: string) =>
    new CommandError(withoutCodes ? noCode : code, message)
  if (target.type !== BsonType.array) throw error('FailedToParse', 'ops has to be an array')
  for (const it = new FieldIterator(target.bytes, target.start); it.next();) {
    const [name, value] = [it.name(), it.value()]
    if (value.type !== BsonType.object) throw error('FailedToParse', `op not an object: ${name}`)
    const operation = value.slice()
    const op = textOf(operation, 'op', name)
    if (op === '') throw error('IllegalOperation', `"op" field value cannot be empty: ${name}`)
    const ns = textOf(operation, 'ns', name)
    if (ns.includes('\0')) throw error('IllegalOperation', 'namespaces cannot have embedded null characters')
    if (ns === '' && !op.startsWith('n'))
      throw error('IllegalOperation', `"ns" field value cannot be empty when op type is not 'n': ${name}`)
  }
  function textOf(operation: Uint8Array, field: string, name: string): string {
    const value = findField(operation, field)
    if (value === undefined) throw error('IllegalOperation', `op does not contain required "${field}" field: ${name}`)
    if (value.type !== BsonType.string) throw error('IllegalOperation', `"${field}" field is not a string: ${name}`)
    return value.asString()
  }
}

function parse(body: Uint8Array, target: RawValue, behaviours: Behaviours): ApplyOpsRequest {
  const operations = documentsOf(target)
  const preCondition = findField(body, 'preCondition')
  if (behaviours.applyOpsMode === 'lenient')
    return {
      operations,
      alwaysUpsert: findField(body, 'alwaysUpsert')?.isTruthy() ?? true,
      isAtomic: false,
      preConditions: preCondition?.type === BsonType.array ? documentsOf(preCondition) : [],
    }
  try {
    checkArrayOfObjects('preCondition', preCondition)
    if (behaviours.applyOpsParsesEntries) checkTransactionFields(body)
    return behaviours.applyOpsMode === 'each'
      ? parseEach(body, operations)
      : parseAtomic(body, operations, preCondition, behaviours)
  } catch (error) {
    throw withContext(error, `Failed to parse applyOps command: ${formatDocument(body)}`)
  }
}

function parseEach(body: Uint8Array, operations: readonly Uint8Array[]): ApplyOpsRequest {
  const alwaysUpsert = boolOf(body, 'alwaysUpsert')
  if (findField(body, 'preCondition') !== undefined)
    throw new CommandError(6711600, "applyOps command no longer supports the 'preCondition' option")
  if (alwaysUpsert === true)
    throw new CommandError(6711601, "applyOps command no longer supports the 'alwaysUpsert' option")
  return { operations, alwaysUpsert: false, isAtomic: false, preConditions: [] }
}

function parseAtomic(
  body: Uint8Array,
  operations: readonly Uint8Array[],
  preCondition: RawValue | undefined,
  behaviours: Behaviours,
): ApplyOpsRequest {
  const alwaysUpsert = boolOf(body, 'alwaysUpsert') ?? true
  const allowsAtomic = boolOf(body, 'allowAtomic') ?? true
  const areWrites = operations.every((operation) => isWrite(operation, behaviours))
  if (preCondition !== undefined && !allowsAtomic)
    throw new CommandError('InvalidOptions', 'Cannot use preCondition with {allowAtomic: false}')
  if (preCondition !== undefined && !areWrites)
    throw new CommandError('InvalidOptions', 'Cannot use preCondition when operations include commands.')
  const preConditions = preCondition === undefined ? [] : documentsOf(preCondition)
  return { operations, alwaysUpsert, isAtomic: allowsAtomic && areWrites, preConditions }
}

/** Whether it can be a part of one storage transaction: no command, and no index. */
function isWrite(operation: Uint8Array, { applyOpsBuildsIndexes }: Behaviours): boolean {
  const op = findField(operation, 'op')!.asString()
  if (op === 'i') return !applyOpsBuildsIndexes || !isIndexNamespace(findField(operation, 'ns')!.asString())
  return op === 'd' || op === 'n' || op === 'u'
}

/** Where indexes were stored until 2.6. */
export function isIndexNamespace(ns: string): boolean {
  return ns.endsWith('.system.indexes') && ns.indexOf('.') === ns.length - '.system.indexes'.length
}

function checkTransactionFields(body: Uint8Array): void {
  for (const name of ['prepare', 'partialTxn']) boolOf(body, name)
  const count = findField(body, 'count')
  if (count?.isNumber() === false) throw wrongType('applyOps', 'count', count.type, 'long')
}

/** @throws CommandError 2 BadValue, 31056, 31240 */
function refuseTransactionFields(body: Uint8Array): void {
  if (boolOf(body, 'prepare') !== undefined)
    throw new CommandError('BadValue', "applyOps command can't have 'prepare' field")
  if (boolOf(body, 'partialTxn') !== undefined)
    throw new CommandError(31056, "applyOps command can't have 'partialTxn' field.")
  if (findField(body, 'count') !== undefined)
    throw new CommandError(31240, "applyOps command can't have 'count' field.")
}

function boolOf(body: Uint8Array, name: string): boolean | undefined {
  const value = findField(body, name)
  if (value === undefined || value.isNullish()) return undefined
  if (value.type !== BsonType.bool) throw wrongType('applyOps', name, value.type, 'bool')
  return value.isTruthy()
}

function checkArrayOfObjects(name: string, value: RawValue | undefined): void {
  if (value === undefined) return
  if (value.type !== BsonType.array) throw wrongType('applyOps', name, value.type, 'array')
  for (const it = new FieldIterator(value.bytes, value.start); it.next();)
    if (it.type !== BsonType.object) throw wrongType('applyOps', `${name}.${it.name()}`, it.type, 'object')
}

function firstValue(document: Uint8Array): RawValue | undefined {
  const it = new FieldIterator(document)
  return it.next() ? it.value() : undefined
}
