/** Server: `document_source_densify.cpp`. */
import {
  BsonType,
  CommandError,
  documentValue,
  DocumentWriter,
  emptyDocument,
  FieldIterator,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { RunSorter } from '../../../sort/run-sorter.js'
import { sortOrder, type SortKey } from '../../../sort/sort-order.js'
import { parseSort } from '../../../sort/sort-pattern.js'
import { parseStruct, stringsOf } from '../../../values/idl.js'
import { valueClasses } from '../../../values/value-classes.js'
import { Densifier } from './densifier.js'
import { parseDensifyRange } from './densify-range.js'
import { checkFieldPath, nestedField } from '../../expressions/field-path.js'
import { sortMemoryError } from '../order.js'
import type { CompiledStage, StageContext, StageOperator } from '../stage.js'
import { newestLanguage } from '../../../language/language.js'

/**
 * Sets the value at a path of embedded documents.
 * @throws CommandError 5733307, 5733308 when the path contains another type
 */
function withNested(document: Uint8Array, names: readonly string[], value: RawValue, checked = true): Uint8Array {
  const [name, ...rest] = names as [string, ...string[]]
  const writer = new DocumentWriter(document.length + 64)
  let found = false
  const below = (existing: RawValue | undefined) => {
    if (checked && existing?.type === BsonType.array)
      throw new CommandError(5733307, '$densify cannot generate fields nested inside arrays')
    if (rest.length === 0) return value
    if (checked && existing !== undefined && existing.type !== BsonType.object)
      throw new CommandError(5733308, '$densify cannot overwrite non-object values with objects')
    return documentValue(withNested(existing?.slice() ?? emptyDocument, rest, value, checked))
  }
  for (const it = new FieldIterator(document); it.next();) {
    if (it.name() !== name) writer.value(it.name(), it.value())
    else {
      found = true
      writer.value(name, below(it.value()))
    }
  }
  if (!found) writer.value(name, below(undefined))
  return writer.finish()
}

function partitionOf(document: Uint8Array, paths: readonly (readonly string[])[]): Uint8Array {
  let partition = emptyDocument
  for (const names of paths) {
    const value = nestedField(documentValue(document), names)
    if (value !== undefined) partition = withNested(partition, names, value, false)
  }
  return partition
}

interface Entry {
  readonly key: SortKey
  readonly document: Uint8Array
}

function compileDensify(argument: RawValue, context: StageContext): CompiledStage {
  if (argument.type !== BsonType.object)
    throw new CommandError(
      'FailedToParse',
      `The $densify stage specification must be an object, found ${typeName(argument.type)}`,
    )
  const given = parseStruct('$densify', argument, {
    field: { types: ['string'], required: true },
    partitionByFields: { types: ['array'] },
    range: { types: ['object'], required: true },
  })
  const range = parseDensifyRange(given.get('range')!)
  const partitionFields = given.get('partitionByFields')
  const partitions = partitionFields === undefined ? [] : stringsOf('$densify.partitionByFields', partitionFields)
  const partitionPaths = partitions.map(checkFieldPath)
  const field = given.get('field')!.asString()
  const names = checkFieldPath(field)
  for (const partition of partitions) {
    if (partition === field || partition.startsWith(`${field}.`))
      throw new CommandError(
        8993000,
        "BSON field '$densify.partitionByFields' contains the field that is being densified",
      )
    if (field.startsWith(`${partition}.`))
      throw new CommandError(
        9554500,
        "The field that is being densified contains the BSON field '$densify.partitionByFields'",
      )
  }
  if (range.bounds === 'partition' && partitions.length === 0)
    throw new CommandError(
      5733408,
      "One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. You may have meant to specify 'full' bounds.",
    )
  const { strings, language = newestLanguage } = context.evaluation
  // With the bounds `full` all partitions advance together.
  const order = sortOrder(sortBy([...(range.bounds === 'full' ? [] : partitions), field]), strings)
  return {
    name: '$densify',
    open(next, rest) {
      const sorter = new RunSorter<Entry>((a, b) => order.compare(a.key, b.key))
      let heldBytes = 0
      return {
        satisfied: false,
        push(document) {
          heldBytes += document.length
          if (heldBytes > context.memoryLimitBytes) throw sortMemoryError(context.memoryLimitBytes)
          sorter.add({ key: order.keyOf(document), document })
        },
        end: () => rest.emit(next, densified(sorter)),
      }
    },
  }

  function* densified(sorter: RunSorter<Entry>): Generator<Uint8Array, void> {
    const keyOf = valueClasses(strings)
    const isPartitioned = partitions.length > 0
    const make = (partition: Uint8Array | null, value: RawValue) => withNested(partition ?? emptyDocument, names, value)
    const densifier = new Densifier(range, isPartitioned, make, language.densifyExcludesUpperBound)
    for (let entry = sorter.next(); entry !== undefined; entry = sorter.next()) {
      const { document } = entry
      const value = nestedField(documentValue(document), names)
      if (value === undefined || value.isNullish()) {
        yield document
        continue
      }
      const partition = isPartitioned ? partitionOf(document, partitionPaths) : null
      const partitionKey = partition === null ? '' : keyOf(documentValue(partition))
      yield* densifier.take({ document, value, partition, partitionKey })
    }
    yield* densifier.end()
  }
}

function sortBy(paths: readonly string[]) {
  const writer = new DocumentWriter()
  for (const path of new Set(paths)) writer.int32(path, 1)
  return parseSort(writer.finish())
}

export const densifyStage: StageOperator = {
  name: '$densify',
  manualPage: 'aggregation/densify',
  status: 'complete',
  sharded: 'merger',
  compile: compileDensify,
}
