/**
 * Moves filters before stages that do not change the fields they test, and limits before one-to-one
 * stages. Server: `DocumentSource::optimizeAt`, `pushMatchBefore`, `pushSampleBefore`.
 */
import { BsonType, DocumentWriter, elementsOf, FieldIterator, type RawValue } from '@shardlab/bson'
import type { PipelineStep } from './steps.js'

type Change =
  /** All paths but these stay unchanged. */
  | { readonly kind: 'all-but'; readonly paths: readonly string[] }
  /** Only these paths stay unchanged. */
  | { readonly kind: 'only'; readonly paths: readonly string[] }
  | { readonly kind: 'unknown' }

const oneToOne = new Set([
  '$project',
  '$addFields',
  '$set',
  '$unset',
  '$replaceRoot',
  '$replaceWith',
  '$lookup',
  '$graphLookup',
])

/**
 * Returns the same array if nothing moves. The stages must have been compiled, which checks them.
 */
export function optimize(steps: readonly PipelineStep[]): readonly PipelineStep[] {
  if (
    !steps.some(
      ({ operator: { name } }, index) => index > 0 && (name === '$match' || name === '$limit' || name === '$skip'),
    )
  )
    return steps
  const result: PipelineStep[] = []
  let changed = false
  for (const step of steps) {
    switch (step.operator.name) {
      case '$match': {
        const before = result.length
        insertMatch(result, step)
        changed ||= result.length !== before + 1 || result.at(-1) !== step
        break
      }
      case '$limit':
      case '$skip': {
        let at = result.length
        while (at > 0 && oneToOne.has(result[at - 1]!.operator.name)) at--
        changed ||= at !== result.length
        result.splice(at, 0, step)
        break
      }
      default:
        result.push(step)
    }
  }
  return changed ? result : steps
}

function insertMatch(result: PipelineStep[], step: PipelineStep): void {
  const conditions = conjuncts(step.argument)
  const places = conditions.map((condition) => placeOf(result, condition))
  if (places.every((place) => place === result.length)) {
    result.push(step)
    return
  }
  // From back to front: the earlier positions stay valid.
  for (const place of [...new Set(places)].sort((a, b) => b - a)) {
    const here = conditions.filter((_, i) => places[i] === place)
    result.splice(place, 0, here.length === conditions.length ? step : matchStepOf(step, here))
  }
}

interface Condition {
  readonly name: string
  readonly value: RawValue
  /** The paths that it tests; null: it may read any field. */
  readonly paths: readonly string[] | null
}

function conjuncts(filter: RawValue): Condition[] {
  const conditions: Condition[] = []
  if (filter.type !== BsonType.object) return conditions
  for (const it = new FieldIterator(filter.bytes, filter.start); it.next();) {
    const name = it.name()
    const value = it.value()
    if (name === '$and' && value.type === BsonType.array)
      for (const element of elementsOf(value)) conditions.push(...conjuncts(element))
    else conditions.push({ name, value, paths: pathsOf(name, value) })
  }
  return conditions
}

function pathsOf(name: string, value: RawValue): readonly string[] | null {
  if (!name.startsWith('$')) return [name]
  if ((name !== '$or' && name !== '$nor') || value.type !== BsonType.array) return null
  const paths: string[] = []
  for (const branch of elementsOf(value)) {
    for (const condition of conjuncts(branch)) {
      if (condition.paths === null) return null
      paths.push(...condition.paths)
    }
  }
  return paths
}

function placeOf(steps: readonly PipelineStep[], { paths }: Condition): number {
  let at = steps.length
  while (at > 0) {
    const { operator, argument } = steps[at - 1]!
    // Neither changes a document, so even a condition without known paths may pass.
    if (operator.name === '$sort' || operator.name === '$match') {
      at--
      continue
    }
    if (paths === null) break
    const change = changeOf(operator.name, argument)
    if (change.kind === 'unknown') break
    const { paths: named, kind } = change
    const free = paths.every((path) =>
      kind === 'all-but'
        ? !named.some((other) => overlaps(path, other))
        : named.some((other) => path === other || path.startsWith(`${other}.`)),
    )
    if (!free) break
    at--
  }
  // Next to another $match, moving further gains nothing.
  while (at < steps.length && steps[at]!.operator.name === '$match') at++
  return at
}

function overlaps(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}

function changeOf(stage: string, argument: RawValue): Change {
  switch (stage) {
    case '$addFields':
    case '$set':
      return { kind: 'all-but', paths: fieldNames(argument) }
    case '$unset':
      return {
        kind: 'all-but',
        paths: (argument.type === BsonType.array ? elementsOf(argument) : [argument]).map((each) => each.asString()),
      }
    case '$unwind':
      return { kind: 'all-but', paths: unwindPaths(argument) }
    case '$lookup':
    case '$graphLookup':
      return { kind: 'all-but', paths: [stringField(argument, 'as')] }
    case '$project':
      return projectChange(argument)
    default:
      return { kind: 'unknown' }
  }
}

function unwindPaths(argument: RawValue): string[] {
  if (argument.type === BsonType.string) return [argument.asString().slice(1)]
  const paths = [stringField(argument, 'path').slice(1)]
  const index = stringField(argument, 'includeArrayIndex')
  return index === '' ? paths : [...paths, index]
}

/**
 * An inclusion keeps the fields it names, and `_id` unless excluded; an exclusion keeps the rest.
 */
function projectChange(argument: RawValue): Change {
  const kept: string[] = []
  const dropped: string[] = []
  const computed: string[] = []
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const value = it.value()
    if (value.type !== BsonType.bool && !value.isNumber()) computed.push(it.name())
    else (value.isTruthy() ? kept : dropped).push(it.name())
  }
  if (kept.length === 0 && computed.length === 0) return { kind: 'all-but', paths: dropped }
  return { kind: 'only', paths: dropped.includes('_id') || computed.includes('_id') ? kept : [...kept, '_id'] }
}

function fieldNames(document: RawValue): string[] {
  const names: string[] = []
  for (const it = new FieldIterator(document.bytes, document.start); it.next();) names.push(it.name())
  return names
}

function stringField(document: RawValue, name: string): string {
  for (const it = new FieldIterator(document.bytes, document.start); it.next();)
    if (it.name() === name && it.type === BsonType.string) return it.value().asString()
  return ''
}

function matchStepOf(step: PipelineStep, conditions: readonly Condition[]): PipelineStep {
  const stage = matchStage(conditions)
  const it = new FieldIterator(stage)
  it.next()
  return { operator: step.operator, argument: it.value(), stage }
}

/** Two conditions may have the same name. */
function matchStage(conditions: readonly Condition[]): Uint8Array {
  const names = new Set(conditions.map((condition) => condition.name))
  const writer = new DocumentWriter().startDocument('$match')
  if (names.size === conditions.length) for (const { name, value } of conditions) writer.value(name, value)
  else {
    writer.startArray('$and')
    conditions.forEach(({ name, value }, i) => writer.startDocument(String(i)).value(name, value).end())
    writer.end()
  }
  return writer.end().finish()
}
