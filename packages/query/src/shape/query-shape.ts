/**
 * The shape of a find, distinct or aggregate: the command with types instead of literals. Queries
 * of one shape share their query settings. Manual: core/query-shapes. Server: find_cmd_shape.cpp,
 * distinct_cmd_shape.cpp, agg_cmd_shape.cpp.
 */
import {
  BsonType,
  documentsOf,
  DocumentWriter,
  findField,
  firstFieldName,
  isEmptyDocument,
  sha256Text,
} from '@shardlab/bson'
import { filterShape, projectionShape, sortShape } from './clauses.js'
import { writeExpression } from './expressions.js'
import { pipelineShape } from './stages.js'

/**
 * @param command with valid arguments
 * @returns null: such a command has no shape
 * @throws CommandError of a filter
 */
export function queryShape(command: Uint8Array, db: string): Uint8Array | null {
  const shape = new ShapeWriter(command)
  switch (firstFieldName(command)) {
    case 'find':
      return findShape(shape, db)
    case 'distinct':
      return distinctShape(shape, db)
    case 'aggregate':
      return aggregateShape(shape, db)
    default:
      return null
  }
}

/** 64 hexadecimal digits. */
export function queryShapeHash(shape: Uint8Array): string {
  return sha256Text(shape)
}

/** In the order of the server's shape. */
const findFlags = [
  'singleBatch',
  'allowDiskUse',
  'returnKey',
  'showRecordId',
  'tailable',
  'awaitData',
  'mirrored',
  'oplogReplay',
]

function findShape(shape: ShapeWriter, db: string): Uint8Array {
  const filter = shape.document('filter')
  shape.start(db, 'find')
  shape.writer.document('filter', filterShape(filter?.slice() ?? emptyFilter))
  shape.clause('projection', projectionShape)
  shape.literals('max')
  shape.literals('min')
  shape.clause('sort', sortShape)
  for (const name of ['limit', 'skip']) if (shape.field(name)?.isTruthy() === true) shape.writer.string(name, '?number')
  for (const name of findFlags) shape.flag(name)
  return shape.writer.finish()
}

function distinctShape(shape: ShapeWriter, db: string): Uint8Array {
  shape.start(db, 'distinct')
  const key = shape.field('key')
  if (key !== undefined) shape.writer.value('key', key)
  shape.clause('query', (query) => filterShape(query.slice()))
  return shape.writer.finish()
}

function aggregateShape(shape: ShapeWriter, db: string): Uint8Array {
  shape.start(db, 'aggregate')
  const pipeline = shape.field('pipeline')
  shape.writer.documents('pipeline', pipeline?.type === BsonType.array ? pipelineShape(documentsOf(pipeline)) : [])
  shape.flag('allowDiskUse')
  return shape.writer.finish()
}

const emptyFilter = new DocumentWriter(8).finish()

class ShapeWriter {
  readonly writer: DocumentWriter
  readonly #command: Uint8Array

  constructor(command: Uint8Array) {
    this.#command = command
    this.writer = new DocumentWriter(command.length + 256)
  }

  field(name: string) {
    const value = findField(this.#command, name)
    return value === undefined || value.isNullish() ? undefined : value
  }

  /** undefined: absent or empty */
  document(name: string) {
    const value = this.field(name)
    return value?.type !== BsonType.object || isEmptyDocument(value.bytes, value.start) ? undefined : value
  }

  start(db: string, command: string): void {
    const target = this.field(command)
    const coll = target?.type === BsonType.string ? target.asString() : '$cmd.aggregate'
    this.writer.startDocument('cmdNs').string('db', db).string('coll', coll).end()
    const collation = this.document('collation')
    if (collation !== undefined) this.writer.value('collation', collation)
    const variables = this.document('let')
    if (variables !== undefined) writeExpression(this.writer, 'let', variables)
    this.writer.string('command', command)
  }

  clause(name: string, shapeOf: (value: NonNullable<ReturnType<ShapeWriter['field']>>) => Uint8Array): void {
    const value = this.document(name)
    if (value !== undefined) this.writer.document(name, shapeOf(value))
  }

  literals(name: string): void {
    const value = this.document(name)
    if (value !== undefined) writeExpression(this.writer, name, value)
  }

  flag(name: string): void {
    const value = this.field(name)
    if (value !== undefined) this.writer.bool(name, value.isTruthy())
  }
}
