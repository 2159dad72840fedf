/** Server: `document_source_set_window_fields.cpp`. */
import {
  BsonType,
  CommandError,
  compareValues,
  FieldIterator,
  firstFieldName,
  nullValue,
  stringValue,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { findOperator, type EvaluationContext } from '../../context.js'
import { applyTree } from '../../projection/apply.js'
import { ProjectionNode } from '../../projection/tree.js'
import { RunSorter } from '../../sort/run-sorter.js'
import { sortOrder, type SortKey } from '../../sort/sort-order.js'
import { parseSort } from '../../sort/sort-pattern.js'
import { parseStruct } from '../../values/idl.js'
import { compileExpression, type DocumentExpression } from '../expressions/compile.js'
import { checkFieldPath } from '../expressions/field-path.js'
import { windowFunctions } from './table.js'
import {
  failedToParse,
  Partition,
  type ComputedField,
  type WindowContext,
  type WindowSpecification,
} from './window-function.js'
import { sortMemoryError } from '../stages/order.js'
import type { CompiledStage, StageContext, StageOperator } from '../stages/stage.js'

interface OutputField {
  readonly path: string
  readonly compute: ComputedField
}

interface Entry {
  readonly partition: RawValue
  readonly key: SortKey | null
  readonly document: Uint8Array
}

const stageName = '$setWindowFields'

function conflicts(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}

function parseOutput(output: RawValue, context: WindowContext): OutputField[] {
  const fields: OutputField[] = []
  for (const it = new FieldIterator(output.bytes, output.start); it.next();) {
    const path = it.name()
    if (fields.some((field) => conflicts(field.path, path)))
      throw new CommandError(6307900, "$setWindowFields 'output' specification contains two conflicting paths")
    const value = it.value()
    if (value.type !== BsonType.object) throw failedToParse(`The field '${path}' must be an object`)
    fields.push({ path, compute: parseFunction(value, context) })
  }
  for (const { path } of fields) checkFieldPath(path)
  return fields
}

function parseFunction(value: RawValue, context: WindowContext): ComputedField {
  let named: { name: string; argument: RawValue } | null = null
  let window: RawValue | null = null
  const others: string[] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) {
    const name = it.name()
    if (name === 'window') window = it.value()
    else if (named === null && name.startsWith('$')) named = { name, argument: it.value() }
    else others.push(name)
  }
  if (named === null) {
    const first = firstFieldName(value.slice()) ?? ''
    throw failedToParse(`Expected a $-prefixed window function${first === '' ? '' : `, ${first}`}`)
  }
  const operator = findOperator('window', windowFunctions, named.name, context.evaluation)
  if (operator === undefined) throw failedToParse(`Unrecognized window function, ${named.name}`)
  const specification: WindowSpecification = {
    ...named,
    window,
    others,
    hasSecondFunction: others.some((name) => windowFunctions.has(name)),
  }
  return operator.compile(specification, context)
}

function partitionExpression(
  partitionBy: RawValue | undefined,
  evaluation: EvaluationContext,
): DocumentExpression | null {
  if (partitionBy === undefined) return null
  const expression = compileExpression(partitionBy, evaluation)
  if (expression.constant === null) return expression
  if (expression.constant.value?.type === BsonType.array) throw arrayPartition()
  return null
}

const arrayPartition = () =>
  new CommandError('TypeMismatch', 'An expression used to partition cannot evaluate to value of type array')

function compileSetWindowFields(argument: RawValue, context: StageContext): CompiledStage {
  if (argument.type !== BsonType.object)
    throw failedToParse(`the ${stageName} stage specification must be an object, found ${typeName(argument.type)}`)
  const given = parseStruct(stageName, argument, {
    partitionBy: {},
    sortBy: { types: ['object'] },
    output: { types: ['object'], required: true },
  })
  return windowStage(given.get('partitionBy'), given.get('sortBy'), given.get('output')!, context)
}

/** Also used for $fill. */
export function windowStage(
  partitionBy: RawValue | undefined,
  sortBy: RawValue | undefined,
  output: RawValue,
  context: StageContext,
): CompiledStage {
  const { evaluation } = context
  const partitionOf = partitionExpression(partitionBy, evaluation)
  const sort = sortBy === undefined ? null : parseSort(sortBy.slice())
  const fields = parseOutput(output, { evaluation, sort })
  const sortValue =
    sort?.parts.length === 1 ? compileExpression(stringValue(`$${sort.parts[0]!.path.dotted}`), evaluation) : null
  return {
    name: stageName,
    open(next, rest) {
      const order = sort === null ? null : sortOrder(sort, evaluation.strings)
      const byPartition = (a: Entry, b: Entry) => compareValues(a.partition, b.partition, evaluation.strings)
      const sorter = new RunSorter<Entry>(
        (a, b) => byPartition(a, b) || (order === null ? 0 : order.compare(a.key!, b.key!)),
      )
      let heldBytes = 0
      return {
        satisfied: false,
        push(document) {
          const partition = partitionOf === null ? nullValue : (partitionOf.evaluateOn(document) ?? nullValue)
          if (partition.type === BsonType.array) throw arrayPartition()
          heldBytes += document.length
          if (heldBytes > context.memoryLimitBytes) throw sortMemoryError(context.memoryLimitBytes)
          sorter.add({ partition, key: order === null ? null : order.keyOf(document), document })
        },
        end: () =>
          rest.emit(
            next,
            computed(sorter, byPartition, (documents) => withFields(new Partition(documents, sortValue), fields)),
          ),
      }
    },
  }
}

/** Null after each document that only joins its partition. */
function* computed(
  sorter: RunSorter<Entry>,
  byPartition: (a: Entry, b: Entry) => number,
  results: (partition: readonly Uint8Array[]) => Iterable<Uint8Array>,
): Generator<Uint8Array | null, void> {
  let first = sorter.next()
  while (first !== undefined) {
    const documents = [first.document]
    let entry = sorter.next()
    for (; entry !== undefined && byPartition(first, entry) === 0; entry = sorter.next()) {
      documents.push(entry.document)
      yield null
    }
    yield* results(documents)
    first = entry
  }
}

function* withFields(partition: Partition, fields: readonly OutputField[]): Generator<Uint8Array> {
  const columns = fields.map((field) => field.compute(partition))
  let row = 0
  const root = new ProjectionNode()
  fields.forEach(({ path }, column) => root.add(path, { kind: 'compute', compute: () => columns[column]![row] }))
  for (; row < partition.size; row++) yield applyTree(root, 'exclude', partition.documents[row]!)
}

export const setWindowFieldsStage: StageOperator = {
  name: stageName,
  manualPage: 'aggregation/setWindowFields',
  status: 'complete',
  sharded: 'merger',
  spills: () => true,
  compile: compileSetWindowFields,
}
