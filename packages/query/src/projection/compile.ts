/** Server: query/projection_parser.cpp. */
import {
  BsonType,
  CommandError,
  FieldIterator,
  firstFieldName,
  findField,
  isEmptyDocument,
  nullValue,
  type RawValue,
} from '@shardlab/bson'
import { compileExpression } from '../aggregation/expressions/compile.js'
import { metadataError } from '../aggregation/expressions/operators/unavailable.js'
import { expressionOperators } from '../aggregation/expressions/table.js'
import { checkFieldPath } from '../aggregation/expressions/field-path.js'
import { findOperator, reportFoldError, type EvaluationContext } from '../context.js'
import { pathNodes } from '../filter/ast.js'
import type { Filter } from '../filter/compile.js'
import { newestLanguage } from '../language/language.js'
import { sortKeyValues, type SortPattern } from '../sort/sort-pattern.js'
import { arrayValue } from '../values/build.js'
import { formatField, formatValue } from '../values/format.js'
import { applyTree } from './apply.js'
import { modernized } from './plain-projection.js'
import { compileElemMatch, compileSlice, positionalTransform } from './find-operators.js'
import { ProjectionNode, type Collisions, type ProjectionMode, type Transform } from './tree.js'

export interface Projection {
  readonly mode: ProjectionMode
  apply(document: Uint8Array): Uint8Array
}

export interface ProjectionOptions {
  /**
   * `aggregate`, for $project, lacks find's $slice, $elemMatch and positional fields. Default
   * `find`.
   */
  readonly dialect?: 'find' | 'aggregate'
  /** For the positional `path.$`. */
  readonly filter?: Filter
  /** For `{$meta: "sortKey"}`. */
  readonly sort?: SortPattern
}

/**
 * @throws CommandError 31249/31250 for colliding paths, 31253/31254 for mixed inclusion and
 *   exclusion, 51270 for an empty sub-projection, and the errors of expressions
 */
export function compileProjection(
  projection: Uint8Array,
  context: EvaluationContext,
  options: ProjectionOptions = {},
): Projection {
  const isPlain =
    options.dialect !== 'aggregate' && !(context.language ?? newestLanguage).has('form', 'findExpressions')
  return new ProjectionParser(context, options, isPlain ? 'later' : 'refused').parse(
    isPlain ? modernized(projection, options.filter, context) : projection,
  )
}

class ProjectionParser {
  readonly #context: EvaluationContext
  readonly #options: ProjectionOptions
  readonly #root: ProjectionNode
  readonly #find: boolean
  #mode: ProjectionMode | null = null
  #id: 'keep' | 'drop' | null = null
  #hasSlice = false
  #hasElemMatch = false
  #hasMeta = false
  #position = -1
  #positional: Filter | null = null

  constructor(context: EvaluationContext, options: ProjectionOptions, collisions: Collisions) {
    this.#root = new ProjectionNode(collisions)
    this.#context = context
    this.#options = options
    this.#find = options.dialect !== 'aggregate'
  }

  parse(projection: Uint8Array): Projection {
    for (const it = new FieldIterator(projection); it.next();) this.#field('', it.name(), it.value())
    const mode = this.#mode ?? this.#defaultMode()
    if (mode === 'include' && this.#id !== 'drop' && !this.#root.leaves.has('_id') && !this.#root.children.has('_id'))
      this.#root.add('_id', { kind: 'keep' })
    if (this.#id === 'drop') this.#root.add('_id', { kind: 'drop' })
    else if (this.#id === 'keep' && !this.#root.leaves.has('_id')) this.#root.add('_id', { kind: 'keep' })
    const root = this.#root
    const positional = this.#positional
    if (positional === null) return { mode, apply: (document) => applyTree(root, mode, document) }
    return {
      mode,
      apply: (document) => {
        this.#position = positional.matchedPosition(document)
        return applyTree(root, mode, document)
      },
    }
  }

  /** For specifications that contain only `_id` or operators of find. */
  #defaultMode(): ProjectionMode {
    if (this.#hasSlice) return this.#id === 'keep' ? 'include' : 'exclude'
    if (this.#hasElemMatch) return 'include'
    if (this.#hasMeta) return this.#find && this.#id !== 'keep' ? 'exclude' : 'include'
    return this.#id === 'keep' ? 'include' : 'exclude'
  }

  #field(parent: string, name: string, value: RawValue): void {
    const path = parent + name
    const isPositional = /\.\$(\.|$)|^\$$/.test(name)
    if (isPositional && !this.#find)
      throw new CommandError(31324, 'Cannot use positional projection in aggregation projection')
    if (value.type === BsonType.object) {
      if (isPositional)
        throw new CommandError(31271, 'positional projection cannot be used with an expression or sub object')
      this.#object(path, value)
    } else if (value.isNumber() || value.type === BsonType.bool) {
      if (!value.isTruthy()) this.#exclusion(path, isPositional)
      else if (isPositional) this.#positionalField(path)
      else this.#inclusion(path)
    } else {
      if (isPositional) throw new CommandError(31308, 'positional projection cannot be used with a literal')
      this.#literal(path, name, value)
    }
  }

  #object(path: string, value: RawValue): void {
    const document = value.slice()
    if (isEmptyDocument(document))
      throw new CommandError(51270, `An empty sub-projection is not a valid value. Found empty object at path ${path}`)
    const operator = firstFieldName(document)!
    if (!operator.startsWith('$') || hasMoreFields(document)) {
      for (const it = new FieldIterator(document); it.next();) this.#field(`${path}.`, it.name(), it.value())
      return
    }
    const argument = findField(document, operator)!
    if (operator === '$meta') this.#meta(path, argument)
    else if (operator === '$elemMatch') this.#elemMatch(path, argument)
    else if (operator === '$slice' && this.#find) this.#slice(path, argument, value)
    else {
      const { language = newestLanguage } = this.#context
      const isKnown = findOperator('expression', expressionOperators, operator, this.#context) !== undefined
      if (!isKnown && language.projectionsHaveOwnParser) throw new CommandError(31325, `Unknown expression ${operator}`)
      this.#computed(path, value)
    }
  }

  /** Find's $slice, or the expression $slice when the argument has its form. */
  #slice(path: string, argument: RawValue, value: RawValue): void {
    let transform: Transform
    try {
      transform = compileSlice(argument, (this.#context.language ?? newestLanguage).projectionsHaveOwnParser)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      this.#sliceExpression(path, value, error)
      return
    }
    checkFieldPath(path)
    this.#root.add(path, { kind: 'transform', transform })
    this.#hasSlice = true
  }

  #sliceExpression(path: string, value: RawValue, findError: CommandError): void {
    let foldError: CommandError | undefined
    const context: EvaluationContext = { ...this.#context, onFoldError: (error) => (foldError ??= error) }
    try {
      this.#computed(path, value, context)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      const syntax = `Invalid $slice syntax. The given syntax ${formatValue(value)} did not match the find() syntax because`
      throw new CommandError(
        error.code,
        `${syntax} :: Location${findError.code}: ${findError.message} :: The given syntax did not match the expression $slice syntax. :: caused by :: ${error.message}`,
      )
    }
    if (foldError !== undefined) reportFoldError(this.#context, foldError)
  }

  #literal(path: string, name: string, value: RawValue): void {
    checkFieldPath(path)
    const expression = compileExpression(value, this.#context)
    this.#root.add(path, { kind: 'compute', compute: (document) => expression.evaluateOn(document) })
    if (this.#mode === 'exclude')
      throw new CommandError(31310, `Cannot use an expression ${formatField(name, value)} in an exclusion projection`)
    this.#mode = 'include'
  }

  #elemMatch(path: string, argument: RawValue): void {
    if (!this.#find) throw new CommandError('InvalidPipelineOperator', 'Cannot use $elemMatch in this context')
    if (this.#positional !== null) throw new CommandError(31255, 'Cannot specify positional operator and $elemMatch.')
    if (path.includes('.')) throw new CommandError(31275, 'Cannot use $elemMatch projection on a nested field.')
    this.#hasElemMatch = true
    this.#root.add(path, { kind: 'compute', compute: compileElemMatch(path, argument, this.#context) })
  }

  #meta(path: string, argument: RawValue): void {
    if (!this.#find || argument.type !== BsonType.string || argument.asString() !== 'sortKey')
      throw metadataError(argument)
    const { sort } = this.#options
    if (sort === undefined) throw new CommandError('BadValue', 'cannot use sortKey $meta projection without a sort')
    this.#hasMeta = true
    this.#root.add(path, {
      kind: 'compute',
      compute: (document) =>
        arrayValue(sortKeyValues(document, sort, this.#context.strings).map((part) => part ?? nullValue)),
    })
  }

  #computed(path: string, value: RawValue, context = this.#context): void {
    checkFieldPath(path)
    if (this.#mode === 'exclude')
      throw new CommandError(31252, 'Cannot use expression other than $meta in exclusion projection')
    this.#mode = 'include'
    const expression = compileExpression(value, context)
    this.#root.add(path, { kind: 'compute', compute: (document) => expression.evaluateOn(document) })
  }

  #inclusion(path: string): void {
    if (path === '_id') {
      this.#setId('keep')
      return
    }
    checkFieldPath(path)
    this.#root.add(path, { kind: 'keep' })
    this.#include(path)
  }

  #include(path: string): void {
    if (this.#mode === 'exclude')
      throw new CommandError(31253, `Cannot do inclusion on field ${path} in exclusion projection`)
    this.#mode = 'include'
  }

  #exclusion(path: string, isPositional: boolean): void {
    if (path === '_id') {
      this.#setId('drop')
      return
    }
    if (isPositional) throw new CommandError(31395, 'positional projection cannot be used with exclusion')
    checkFieldPath(path)
    this.#root.add(path, { kind: 'drop' })
    if (this.#mode === 'include')
      throw new CommandError(31254, `Cannot do exclusion on field ${path} in inclusion projection`)
    this.#mode = 'exclude'
  }

  #setId(what: 'keep' | 'drop'): void {
    if (this.#id !== null || this.#root.leaves.has('_id') || this.#root.children.has('_id'))
      throw new CommandError(31250, 'Path collision at _id')
    this.#id = what
  }

  #positionalField(given: string): void {
    const { filter } = this.#options
    if (this.#positional !== null)
      throw new CommandError(31276, 'Cannot specify more than one positional projection per query.')
    if (this.#hasElemMatch) throw new CommandError(31256, 'Cannot specify positional operator and $elemMatch.')
    if (filter === undefined) throw new CommandError(51050, 'Projections with a positional operator require a matcher')
    const first = given.split('.')[0]!
    if (![...pathNodes(filter.root)].some((node) => node.path.split('.')[0] === first))
      throw new CommandError(31277, `Positional projection '${given}' does not match the query document.`)
    if (given.endsWith('.$.')) throw new CommandError(31270, "Path cannot end with '.$.'")
    const [path, ...rest] = given.split(/\.\$(?=\.|$)/) as [string, ...string[]]
    if (rest.length > 1) throw new CommandError(31287, `Cannot use positional operator twice: ${given}`)
    checkFieldPath(path)
    this.#root.add(path, { kind: 'transform', transform: positionalTransform(filter, () => this.#position) })
    this.#positional = filter
    this.#include(given)
  }
}

function hasMoreFields(document: Uint8Array): boolean {
  const it = new FieldIterator(document)
  return it.next() && it.next()
}
