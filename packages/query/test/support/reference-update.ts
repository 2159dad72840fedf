/** Updates of plain values: slow, and written apart from the real ones. No positional paths. */
import { order, referenceMatches, type Plain, type PlainFilter } from './reference.js'
import { referenceSort, type PlainSort } from './reference-sort.js'

export type PlainUpdate = { readonly [operator: string]: { readonly [path: string]: Plain } }

type PlainObject = { [name: string]: Plain }

/** What the server refuses. */
export class Refused extends Error {}

function isObject(value: Plain | undefined): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const remove = Symbol('remove')
const keep = Symbol('keep')

/** The new value of a path, given the old. */
type Change = (old: Plain | undefined) => Plain | typeof remove | typeof keep

/** Operators that leave alone what is not there. */
const needsPath: ReadonlySet<string> = new Set(['$unset', '$pull', '$pullAll', '$pop'])

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

function isOperators(value: Plain): value is PlainObject {
  return isObject(value) && Object.keys(value)[0]?.startsWith('$') === true
}

function pulls(element: Plain, condition: Plain): boolean {
  if (isOperators(condition)) return referenceMatches({ v: condition } as PlainFilter, { v: element })
  if (!isObject(condition)) return equal(element, condition)
  const filter = Object.fromEntries(Object.entries(condition).map(([name, value]) => [name, isOperators(value) ? value : { $eq: value }]))
  return isObject(element) && referenceMatches(filter as PlainFilter, element)
}

function sortElements(elements: Plain[], by: Plain): Plain[] {
  if (typeof by === 'number') return elements.toSorted((a, b) => order(a, b) * by)
  const holders = elements.map((element) => ({ keys: isObject(element) ? element : {}, element }))
  const pattern = Object.fromEntries(Object.entries(by as PlainObject).map(([name, direction]) => [`keys.${name}`, direction]))
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
  const candidates = isObject(argument) && Object.hasOwn(argument, '$each') ? (argument['$each'] as Plain[]) : [argument]
  for (const candidate of candidates) if (!elements.some((element) => equal(element, candidate))) elements.push(candidate)
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
        old === undefined ? keep : array(old).filter((element) => !(argument as Plain[]).some((unwanted) => equal(element, unwanted)))
    case '$pop':
      return (old) => (old === undefined ? keep : argument === 1 ? array(old).slice(0, -1) : array(old).slice(1))
    default:
      throw new Error(`no such operator here: ${operator}`)
  }
}

const isIndex = (name: string) => /^(0|[1-9][0-9]*)$/.test(name)

/** The value with the path changed; the same value when nothing changes. */
function at(value: Plain, names: readonly string[], creates: boolean, change: Change): Plain {
  const [name, ...rest] = names as [string, ...string[]]
  if (!isObject(value) && !(Array.isArray(value) && isIndex(name))) {
    if (creates) throw new Refused('no place for it')
    return value
  }
  const old: Plain | undefined = Array.isArray(value) ? value[Number(name)] : Object.hasOwn(value, name) ? value[name] : undefined
  let result: ReturnType<Change>
  if (rest.length === 0) result = change(old)
  else if (old !== undefined) result = at(old, rest, creates, change)
  else result = creates ? at({}, rest, creates, change) : keep
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

function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split('.'), b.split('.')]
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    if (left[i] === right[i]) continue
    if (isIndex(left[i]!) && isIndex(right[i]!)) return Number(left[i]) - Number(right[i])
    return left[i]! < right[i]! ? -1 : 1
  }
  return left.length - right.length
}

/** @throws Refused */
export function referenceUpdate(document: Plain, update: PlainUpdate): Plain {
  const steps = Object.entries(update).flatMap(([operator, fields]) =>
    Object.entries(fields).map(([path, argument]) => ({ operator, path, argument })),
  )
  for (const a of steps)
    for (const b of steps) if (a !== b && (a.path === b.path || b.path.startsWith(`${a.path}.`))) throw new Refused('conflicting paths')
  steps.sort((a, b) => comparePaths(a.path, b.path))
  return steps.reduce(
    (value, { operator, path, argument }) => at(value, path.split('.'), !needsPath.has(operator), changeOf(operator, argument)),
    document,
  )
}
