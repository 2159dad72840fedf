/**
 * Server: matcher/expression_parser.cpp. All errors are CommandError BadValue unless an operator
 * says otherwise.
 */
import { BsonType, CommandError, FieldIterator, firstFieldName, type RawValue } from '@shardlab/bson'
import { andOf, type FilterNode } from './ast.js'
import { allFilterFeatures, type FilterFeatures } from './features.js'
import type { FilterParser } from './operator.js'
import { comparisonNode } from './operators/comparison.js'
import { regexNodeOfValue } from './operators/regex.js'
import { pathOperators, rootOperators } from './operators/table.js'
import { newestLanguage, type Language } from '../language/language.js'

const maxDepth = 100
/** Server: `BSONDepth::getMaxDepthForUserStorage`. */
const maxPathParts = 180

/**
 * @param features default: all, as in the filter of a command
 * @param language default: of the newest release
 */
export function parseFilter(
  document: Uint8Array,
  features = allFilterFeatures,
  language: Language = newestLanguage,
): FilterNode {
  return parseDocument(document, features, language, 0, true)
}

class ParserAt implements FilterParser {
  readonly features: FilterFeatures
  readonly language: Language
  readonly isOutermost: boolean
  readonly #depth: number
  readonly #isTopLevel: boolean

  constructor(features: FilterFeatures, language: Language, depth: number, isTopLevel: boolean) {
    this.features = features
    this.language = language
    this.#depth = depth
    this.isOutermost = depth === 0
    this.#isTopLevel = isTopLevel
  }

  parseDocument(document: Uint8Array): FilterNode {
    return parseDocument(document, this.features, this.language, this.#depth + 1, this.#isTopLevel)
  }

  parseElement(document: Uint8Array): FilterNode {
    return parseDocument(document, this.features, this.language, this.#depth + 1, false)
  }

  parseOperators(path: string, operators: Uint8Array): FilterNode[] {
    return parseOperators(path, operators, this.features, this.language, this.#depth + 1)
  }

  isOperatorDocument(value: RawValue, incompleteDbRefs?: boolean): boolean {
    return isOperatorDocument(value, incompleteDbRefs)
  }

  startsWithOperator(value: RawValue): boolean {
    if (value.type !== BsonType.object) return false
    const name = firstFieldName(value.slice())
    if (name === undefined || name === '$comment') return false
    return (pathOperators.has(name) && this.language.has('filter', name)) || geoOperatorNames.has(name)
  }
}

/** Of the server; unknown here. */
const geoOperatorNames: ReadonlySet<string> = new Set(['$geoIntersects', '$geoNear', '$geoWithin', '$within'])

/** @param isTopLevel false: the filter applies to an array element */
function parseDocument(
  document: Uint8Array,
  features: FilterFeatures,
  language: Language,
  depth: number,
  isTopLevel: boolean,
): FilterNode {
  if (depth > maxDepth) throw new CommandError('BadValue', 'exceeded maximum query tree depth')
  const children: FilterNode[] = []
  for (const it = new FieldIterator(document); it.next();) {
    const name = it.name()
    const value = it.value()
    if (name.startsWith('$')) {
      // $ref, $id and $db are fields of a DBRef.
      if (name === '$ref' || name === '$id' || name === '$db') {
        children.push(comparisonNode(name, 'eq', value))
        continue
      }
      const operator = rootOperators.get(name)
      if (operator === undefined || !language.has('filter', name)) {
        const hint = language.errorsSuggestGetField
          ? ". If you have a field name that starts with a '$' symbol, consider using $getField or $setField."
          : ''
        throw new CommandError('BadValue', `unknown top level operator: ${name}${hint}`)
      }
      const node = operator.parse(value, new ParserAt(features, language, depth, isTopLevel), isTopLevel)
      if (node !== null) children.push(node)
      continue
    }
    checkPathLength(name)
    if (isOperatorDocument(value)) {
      children.push(...parseOperators(name, value.slice(), features, language, depth))
    } else if (value.type === BsonType.regex) {
      children.push(regexNodeOfValue(name, value, language))
    } else {
      children.push(comparisonNode(name, 'eq', value))
    }
  }
  return andOf(children)
}

/** @throws CommandError 5729100 */
function checkPathLength(path: string): void {
  if (path.length < 2 * maxPathParts) return
  if (path.split('.').length > maxPathParts) throw new CommandError(5729100, 'FieldPath is too long')
}

function parseOperators(
  path: string,
  operators: Uint8Array,
  features: FilterFeatures,
  language: Language,
  depth: number,
): FilterNode[] {
  if (depth > maxDepth) throw new CommandError('BadValue', 'exceeded maximum query tree depth')
  const nodes: FilterNode[] = []
  for (const it = new FieldIterator(operators); it.next();) {
    const name = it.name()
    const operator = pathOperators.get(name)
    if (operator === undefined || !language.has('filter', name))
      throw new CommandError(
        'BadValue',
        name === '$where' ? '$where cannot be applied to a field' : `unknown operator: ${name}`,
      )
    const node = operator.parse(path, it.value(), new ParserAt(features, language, depth, false), operators)
    if (node !== null) nodes.push(node)
  }
  return nodes
}

/** An object whose first name starts with $ and that is not a DBRef. */
function isOperatorDocument(value: RawValue, incompleteDbRefs = false): boolean {
  if (value.type !== BsonType.object) return false
  const document = value.slice()
  if (!firstFieldName(document)?.startsWith('$')) return false
  const names = new Set<string>()
  for (const it = new FieldIterator(document); it.next();) names.add(it.name())
  return incompleteDbRefs
    ? !(names.has('$ref') || names.has('$id') || names.has('$db'))
    : !(names.has('$ref') && names.has('$id'))
}
