/** A slow, independent evaluator. Positional paths are first expanded for the document. */
import { order, referenceMatches, type Plain, type PlainFilter } from './filter.js'
import { referenceSort, type PlainSort } from './sort.js'

export type PlainUpdate = { readonly [operator: string]: { readonly [path: string]: Plain } }

type PlainObject = { [name: string]: Plain }

export class Refused extends Error {}

function isObject(value: Plain | undefined): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const remove = Symbol('remove')
const keep = Symbol('keep')

type Change = (old: Plain | undefined) => Plain | typeof remove | typeof keep

/**
 * What to do when the path does not exist. `tolerate`: nothing, even if a value blocks it; `skip`:
 * nothing, but a value that blocks it is an error.
 */
type Missing = 'tolerate' | 'skip' | 'create'

function missingRule(operator: string): Missing {
  return operator === '$unset' ? 'tolerate' : ['$pull', '$pullAll', '$pop'].includes(operator) ? 'skip' : 'create'
}

export interface Places {
  /** By the name in `$[name]`. */
  readonly arrayFilters?: { readonly [name: string]: PlainFilter }
  /** Index for `$`. */
  readonly matched?: number
}

function array(old: Plain | undefined): Plain[] {
  if (old === undefined) return []
  if (!Array.isArray(old)) throw new Refused('not an array')
  return old
}

function number(value: Plain): number {
  if (typeof value !== 'number') throw new Refused('not a number')
  return value
}

const equal = (a: Plain, b: Plain) => order(a, b) === 0

/** Whether the number is written as int32. */
function isWhole(value: Plain): value is number {
  return typeof value === 'number' && Number.isInteger(value) && !Object.is(value, -0) && Math.abs(value) < 2 ** 31
}

function isOperators(value: Plain): value is PlainObject {
  return isObject(value) && Object.keys(value)[0]?.startsWith('$') === true
}

function pulls(element: Plain, condition: Plain): boolean {
  if (isOperators(condition)) return referenceMatches({ v: condition } as PlainFilter, { v: element })
  if (!isObject(condition)) return equal(element, condition)
  const filter = Object.fromEntries(
    Object.entries(condition).map(([name, value]) => [name, isOperators(value) ? value : { $eq: value }]),
  )
  return isObject(element) && referenceMatches(filter as PlainFilter, element)
}

function sortElements(elements: Plain[], by: Plain): Plain[] {
  if (typeof by === 'number') return elements.toSorted((a, b) => order(a, b) * by)
  const holders = elements.map((element) => ({ keys: isObject(element) ? element : {}, element }))
  const pattern = Object.fromEntries(
    Object.entries(by as PlainObject).map(([name, direction]) => [`keys.${name}`, direction]),
  )
  return referenceSort(holders, pattern as PlainSort).map(({ element }) => element)
}

function push(old: Plain | undefined, argument: Plain): Plain {
  const clauses = isObject(argument) && Object.hasOwn(argument, '$each') ? argument : { $each: [argument] }
  const elements = [...array(old)]
  const { $position: position = elements.length } = clauses as { $position?: number }
  const at = position < 0 ? Math.max(0, elements.length + position) : Math.min(position, elements.length)
  const more = [...elements.slice(0, at), ...(clauses['$each'] as Plain[]), ...elements.slice(at)]
  const sorted = clauses['$sort'] === undefined ? more : sortElements(more, clauses['$sort'])
  const { $slice: slice } = clauses as { $slice?: number }
  if (slice === undefined) return sorted
  return slice >= 0 ? sorted.slice(0, slice) : sorted.slice(Math.max(0, sorted.length + slice))
}

function addToSet(old: Plain | undefined, argument: Plain): Plain {
  const elements = [...array(old)]
  const candidates =
    isObject(argument) && Object.hasOwn(argument, '$each') ? (argument['$each'] as Plain[]) : [argument]
  for (const candidate of candidates)
    if (!elements.some((element) => equal(element, candidate))) elements.push(candidate)
  return elements
}

function changeOf(operator: string, argument: Plain): Change {
  switch (operator) {
    case '$set':
      return () => argument
    case '$unset':
      return (old) => (old === undefined ? keep : remove)
    case '$inc':
      return (old) => (old === undefined ? argument : number(old) + number(argument))
    case '$mul':
      return (old) => (old === undefined ? 0 : number(old) * number(argument))
    case '$min':
      return (old) => (old === undefined || order(argument, old) < 0 ? argument : keep)
    case '$max':
      return (old) => (old === undefined || order(argument, old) > 0 ? argument : keep)
    case '$push':
      return (old) => push(old, argument)
    case '$addToSet':
      return (old) => addToSet(old, argument)
    case '$pull':
      return (old) => (old === undefined ? keep : array(old).filter((element) => !pulls(element, argument)))
    case '$pullAll':
      return (old) =>
        old === undefined
          ? keep
          : array(old).filter((element) => !(argument as Plain[]).some((unwanted) => equal(element, unwanted)))
    case '$bit':
      return (old) => {
        if (old !== undefined && !isWhole(old)) throw new Refused('not an integer')
        return Object.entries(argument as PlainObject).reduce((value, [operation, operand]) => {
          const given = operand as number
          return operation === 'and' ? value & given : operation === 'or' ? value | given : value ^ given
        }, old ?? 0)
      }
    case '$pop':
      return (old) => (old === undefined ? keep : argument === 1 ? array(old).slice(0, -1) : array(old).slice(1))
    default:
      throw new Error(`no such operator here: ${operator}`)
  }
}

const isIndex = (name: string) => /^(0|[1-9][0-9]*)$/.test(name)

/** Returns the same value when nothing changes. */
function at(value: Plain, names: readonly string[], missing: Missing, change: Change): Plain {
  const [name, ...rest] = names as [string, ...string[]]
  if (!isObject(value) && !(Array.isArray(value) && isIndex(name))) {
    if (missing !== 'tolerate') throw new Refused('no place for it')
    return value
  }
  const old: Plain | undefined = Array.isArray(value)
    ? value[Number(name)]
    : Object.hasOwn(value, name)
      ? value[name]
      : undefined
  let result: ReturnType<Change>
  if (rest.length === 0) result = old === undefined && missing !== 'create' ? keep : change(old)
  else if (old !== undefined) result = at(old, rest, missing, change)
  else result = missing === 'create' ? at({}, rest, missing, change) : keep
  if (result === keep) return value
  if (Array.isArray(value)) {
    const elements = [...value]
    while (elements.length < Number(name)) elements.push(null)
    elements[Number(name)] = result === remove ? null : result
    return elements
  }
  if (result !== remove) return { ...value, [name]: result }
  const { [name]: _gone, ...others } = value
  return others
}

function child(value: Plain | undefined, name: string): Plain | undefined {
  if (Array.isArray(value)) return isIndex(name) ? value[Number(name)] : undefined
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

const isElements = (name: string | undefined) => name?.startsWith('$[') === true

/**
 * The concrete paths of a path with positional parts, and one that ends with * for each array on
 * it: another leaf at that array is a conflict as well.
 */
function spellOut(value: Plain | undefined, names: readonly string[], places: Places): string[][] {
  const [name, ...rest] = names
  if (name === undefined) return [[]]
  if (!isElements(name)) {
    if (name === '$' && places.matched === undefined) throw new Refused('no match')
    const concrete = name === '$' ? String(places.matched) : name
    return spellOut(child(value, concrete), rest, places).map((tail) => [concrete, ...tail])
  }
  if (!Array.isArray(value)) throw new Refused('no array')
  const identifier = name.slice(2, -1)
  const filter = places.arrayFilters?.[identifier]
  if (identifier !== '' && filter === undefined) throw new Refused('no filter')
  const paths = value.flatMap((element, index) =>
    filter === undefined || referenceMatches(filter, { [identifier]: element })
      ? spellOut(element, rest, places).map((tail) => [String(index), ...tail])
      : [],
  )
  return [['*'], ...paths]
}

/** Undefined: the source of the $rename does not exist. */
function renamed(document: Plain, from: string, to: string): Plain | undefined {
  const source = reachable(document, from, true)
  if (source === undefined) return undefined
  const parents = (path: string) => path.split('.').map((_, index, names) => names.slice(0, index).join('.'))
  for (const parent of [...parents(from), ...parents(to)])
    if (parent !== '' && Array.isArray(reachable(document, parent, false))) throw new Refused('in an array')
  return source
}

function reachable(document: Plain, path: string, strict: boolean): Plain | undefined {
  let value: Plain | undefined = document
  for (const name of path.split('.')) {
    if (strict && !isObject(value) && !(Array.isArray(value) && isIndex(name))) throw new Refused('a value in the way')
    value = child(value, name)
    if (value === undefined) return undefined
  }
  return value
}

function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split('.'), b.split('.')]
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    if (left[i] === right[i]) continue
    if (isIndex(left[i]!) && isIndex(right[i]!)) return Number(left[i]) - Number(right[i])
    return left[i]! < right[i]! ? -1 : 1
  }
  return left.length - right.length
}

interface Step {
  readonly operator: string
  readonly path: string
  readonly argument: Plain
}

const begins = (inner: readonly string[], outer: readonly string[]) =>
  outer.every((name, index) => inner[index] === name)

/**
 * No path may contain another one, and two paths must treat the same value either as a document or
 * as an array.
 */
function checkWritten(paths: readonly string[]): void {
  const written = paths.map((path) => path.split('.'))
  for (const [i, a] of written.entries()) {
    for (const [j, b] of written.entries()) {
      if (i === j) continue
      if (begins(b, a)) throw new Refused('conflicting paths')
      const shared = a.findIndex((name, index) => name !== b[index])
      if (shared > 0 && isElements(a[shared]) !== isElements(b[shared])) throw new Refused('conflicting parts')
    }
  }
}

function applyStep(document: Plain, value: Plain, { operator, path, argument }: Step): Plain {
  const names = path.split('.')
  if (operator !== '$rename') return at(value, names, missingRule(operator), changeOf(operator, argument))
  const source = renamed(document, argument as string, path)
  if (source === undefined) return value
  const gone = at(value, (argument as string).split('.'), 'tolerate', changeOf('$unset', true))
  return at(gone, names, 'create', () => source)
}

export function referenceUpdate(document: Plain, update: PlainUpdate, places: Places = {}): Plain {
  const written = Object.entries(update).flatMap(([operator, fields]) =>
    Object.entries(fields).map(([path, argument]): Step =>
      operator === '$rename' ? { operator, path: argument as string, argument: path } : { operator, path, argument },
    ),
  )
  checkWritten(
    written.flatMap(({ operator, path, argument }) => (operator === '$rename' ? [path, argument as string] : [path])),
  )
  const used = written.flatMap(({ path }) => path.split('.').filter(isElements))
  for (const name of Object.keys(places.arrayFilters ?? {}))
    if (!used.includes(`$[${name}]`)) throw new Refused('filter without use')
  const steps = written.flatMap((step) =>
    spellOut(document, step.path.split('.'), places).map((names) => ({ ...step, path: names.join('.') })),
  )
  const concrete = steps.map(({ path }) => path.split('.'))
  for (const [i, a] of concrete.entries())
    for (const [j, b] of concrete.entries())
      if (i !== j && a.at(-1) !== '*' && begins(b, a)) throw new Refused('conflict in an element')
  return steps
    .filter(({ path }) => !path.endsWith('*'))
    .sort((a, b) => comparePaths(a.path, b.path))
    .reduce((value, step) => applyStep(document, value, step), document)
}
