/** A slow, independent evaluator of core filters. */

export type Plain = null | boolean | number | string | Plain[] | { [name: string]: Plain }

const rank = (value: Plain | undefined): number =>
  value === undefined
    ? 0
    : value === null
      ? 1
      : typeof value === 'number'
        ? 2
        : typeof value === 'string'
          ? 3
          : Array.isArray(value)
            ? 5
            : typeof value === 'object'
              ? 4
              : 6

export function order(a: Plain | undefined, b: Plain | undefined): number {
  if (rank(a) !== rank(b)) return rank(a) < rank(b) ? -1 : 1
  if (typeof a === 'number' && typeof b === 'number')
    return Number.isNaN(a) || Number.isNaN(b)
      ? Number(Number.isNaN(b)) - Number(Number.isNaN(a))
      : a < b
        ? -1
        : Number(a > b)
  if (typeof a === 'string' && typeof b === 'string') return Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)))
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null) {
    const [left, right] = [Object.entries(a), Object.entries(b)]
    for (let i = 0; i < Math.min(left.length, right.length); i++) {
      const [l, r] = [left[i]!, right[i]!]
      const difference =
        Math.sign(rank(l[1]) - rank(r[1])) ||
        Math.sign(Buffer.compare(Buffer.from(l[0]), Buffer.from(r[0]))) ||
        order(l[1], r[1])
      if (difference !== 0) return difference
    }
    return Math.sign(left.length - right.length)
  }
  return 0
}

/** @param leafElements true: of an array at the end of the path also the elements */
export function reach(value: Plain, names: string[], leafElements: boolean): (Plain | undefined)[] {
  const [name, ...rest] = names
  if (name === undefined) return leafElements && Array.isArray(value) ? [...value, value] : [value]
  if (Array.isArray(value)) return throughArray(value, names, leafElements)
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return [undefined]
  return reach(value[name]!, rest, leafElements)
}

function throughArray(array: Plain[], names: string[], leafElements: boolean): (Plain | undefined)[] {
  const results: (Plain | undefined)[] = []
  array.forEach((element, index) => {
    const isObject = typeof element === 'object' && element !== null && !Array.isArray(element)
    if (isObject) results.push(...reach(element, names, leafElements))
    if (names[0] !== String(index)) return
    if (names.length === 1) results.push(element)
    else if (isObject) results.push(...reach(element, names.slice(1), leafElements))
    else if (Array.isArray(element)) results.push(...throughArray(element, names.slice(1), leafElements))
  })
  return results
}

function compares(operator: string, value: Plain | undefined, argument: Plain): boolean {
  if (argument === null) return (value === undefined || value === null) && operator !== '$gt' && operator !== '$lt'
  if (value === undefined || rank(value) !== rank(argument)) return false
  if (typeof value === 'number' && typeof argument === 'number' && Number.isNaN(value) !== Number.isNaN(argument))
    return false
  const result = order(value, argument)
  return operator === '$eq'
    ? result === 0
    : operator === '$gt'
      ? result > 0
      : operator === '$gte'
        ? result >= 0
        : operator === '$lt'
          ? result < 0
          : result <= 0
}

function kindOf(value: Plain | undefined): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

function isOperators(argument: Plain): boolean {
  return typeof argument === 'object' && argument !== null && Object.keys(argument)[0]?.startsWith('$') === true
}

type Condition = { [operator: string]: Plain }

function test(operator: string, argument: Plain, document: Plain, path: string): boolean {
  const values = () => reach(document, path.split('.'), true)
  switch (operator) {
    case '$ne':
      return !test('$eq', argument, document, path)
    case '$nin':
      return !test('$in', argument, document, path)
    case '$in':
      return (argument as Plain[]).some((each) => test('$eq', each, document, path))
    case '$exists':
      return values().some((value) => value !== undefined) === argument
    case '$size':
      return reach(document, path.split('.'), false).some((value) => Array.isArray(value) && value.length === argument)
    case '$all':
      return (
        (argument as Plain[]).length > 0 && (argument as Plain[]).every((each) => test('$eq', each, document, path))
      )
    case '$type':
      return values().some((value) => kindOf(value) === argument)
    case '$mod': {
      const [divisor, remainder] = argument as [number, number]
      return values().some(
        (value) => typeof value === 'number' && Number.isFinite(value) && Math.trunc(value) % divisor === remainder,
      )
    }
    case '$bitsAnySet':
      return values().some(
        (value) =>
          Number.isInteger(value) && Math.abs(value as number) < 64 && ((value as number) & (argument as number)) !== 0,
      )
    case '$regex':
      return values().some((value) => typeof value === 'string' && new RegExp(argument as string).test(value))
    case '$not':
      return !Object.entries(argument as Condition).every(([inner, value]) => test(inner, value, document, path))
    case '$elemMatch':
      return reach(document, path.split('.'), false).some(
        (value) =>
          Array.isArray(value) &&
          value.some((element) =>
            isOperators(argument)
              ? Object.entries(argument as Condition).every(([inner, given]) => compares(inner, element, given))
              : typeof element === 'object' &&
                element !== null &&
                // A nested array is treated as an object with the names 0, 1, ….
                referenceMatches(
                  argument as PlainFilter,
                  Array.isArray(element) ? Object.fromEntries(Object.entries(element)) : element,
                ),
          ),
      )
    default:
      return values().some((value) => compares(operator, value, argument))
  }
}

export type PlainFilter = { [name: string]: Plain | PlainFilter[] | Condition }

export function referenceMatches(filter: PlainFilter, document: Plain): boolean {
  return Object.entries(filter).every(([name, argument]) => {
    if (name === '$and') return (argument as PlainFilter[]).every((child) => referenceMatches(child, document))
    if (name === '$or') return (argument as PlainFilter[]).some((child) => referenceMatches(child, document))
    if (name === '$nor') return !(argument as PlainFilter[]).some((child) => referenceMatches(child, document))
    return Object.entries(argument as Condition).every(([operator, value]) => test(operator, value, document, name))
  })
}
