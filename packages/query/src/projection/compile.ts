/** Projections of find and of $project. Server: query/projection_parser.cpp. */
import { BsonType, CommandError, FieldIterator, firstFieldName, findField, isEmptyDocument, nullValue, type RawValue } from '@shardlab/bson'
import { compileExpression } from '../aggregation/expressions/compile.js'
import { checkFieldPath } from '../aggregation/expressions/field-path.js'
import type { EvaluationContext } from '../context.js'
import type { Filter } from '../filter/compile.js'
import { sortKeyValues, type SortPattern } from '../sort/sort-pattern.js'
import { arrayValue } from '../values/build.js'
import { applyTree, type ProjectionMode } from './apply.js'
import { compileElemMatch, compileSlice, positionalTransform } from './find-operators.js'
import { ProjectionNode } from './tree.js'

export interface Projection {
  readonly mode: ProjectionMode
  apply(document: Uint8Array): Uint8Array
}

export interface ProjectionOptions {
  /** `$project` knows no $slice, $elemMatch and positional fields of find; default `find`. */
  readonly dialect?: 'find' | 'aggregate'
  /** The query, for the positional `path.$`. */
  readonly filter?: Filter
  /** The sort, for `{$meta: "sortKey"}`. */
  readonly sort?: SortPattern
}

/**
 * @throws CommandError 31249/31250 for colliding paths, 31253/31254 for mixed inclusion and exclusion, 51270 for an empty sub-projection, and what expressions throw
 */
export function compileProjection(projection: Uint8Array, context: EvaluationContext, options: ProjectionOptions = {}): Projection {
  return new ProjectionParser(context, options).parse(projection)
}

class ProjectionParser {
  readonly #context: EvaluationContext
  readonly #options: ProjectionOptions
  readonly #root = new ProjectionNode()
  readonly #find: boolean
  #mode: ProjectionMode | null = null
  #id: 'keep' | 'drop' | null = null
  #hasSlice = false
  #hasElemMatch = false
  #hasMeta = false
  #position = -1
  #positional: Filter | null = null

  constructor(context: EvaluationContext, options: ProjectionOptions) {
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

  /** For specifications that only name `_id` or hold operators of find. */
  #defaultMode(): ProjectionMode {
    if (this.#hasSlice) return this.#id === 'keep' ? 'include' : 'exclude'
    if (this.#hasElemMatch) return 'include'
    if (this.#hasMeta) return this.#find && this.#id !== 'keep' ? 'exclude' : 'include'
    return this.#id === 'keep' ? 'include' : 'exclude'
  }

  #field(parent: string, name: string, value: RawValue): void {
    const path = parent + name
    if (value.type === BsonType.object) {
      this.#object(path, value)
      return
    }
    if (value.isNumber() || value.type === BsonType.bool) {
      if (value.isTruthy()) this.#inclusion(path)
      else this.#exclusion(path)
      return
    }
    this.#computed(path, value)
  }

  #object(path: string, value: RawValue): void {
    const document = value.slice()
    if (isEmptyDocument(document))
      throw new CommandError(51270, `An empty sub-projection is not a valid value. Found empty object at path ${path}`)
    const operator = firstFieldName(document)!
    if (!operator.startsWith('$')) {
      for (const it = new FieldIterator(document); it.next();) this.#field(`${path}.`, it.name(), it.value())
      return
    }
    const argument = findField(document, operator)!
    if (operator === '$meta') this.#meta(path, argument)
    else if (operator === '$elemMatch') this.#elemMatch(path, argument)
    else if (operator === '$slice' && this.#find) {
      checkFieldPath(path)
      this.#hasSlice = true
      this.#root.add(path, { kind: 'transform', transform: compileSlice(argument) })
    } else this.#computed(path, value)
  }

  #elemMatch(path: string, argument: RawValue): void {
    if (!this.#find) throw new CommandError('InvalidPipelineOperator', 'Cannot use $elemMatch in this context')
    if (this.#positional !== null) throw new CommandError(31255, 'Cannot specify positional operator and $elemMatch.')
    if (path.includes('.')) throw new CommandError(31275, 'Cannot use $elemMatch projection on a nested field.')
    this.#hasElemMatch = true
    this.#root.add(path, { kind: 'compute', compute: compileElemMatch(path, argument, this.#context) })
  }

  #meta(path: string, argument: RawValue): void {
    const what = argument.type === BsonType.string ? argument.asString() : ''
    if (what !== 'sortKey') throw new CommandError(17308, `Unsupported argument to $meta: ${what}`)
    const { sort } = this.#options
    if (sort === undefined) throw new CommandError('BadValue', 'cannot use sortKey $meta projection without a sort')
    this.#hasMeta = true
    this.#root.add(path, {
      kind: 'compute',
      compute: (document) => arrayValue(sortKeyValues(document, sort).map((part) => part ?? nullValue)),
    })
  }

  #computed(path: string, value: RawValue): void {
    checkFieldPath(path)
    if (this.#mode === 'exclude') throw new CommandError(31252, 'Cannot use expression other than $meta in exclusion projection')
    this.#mode = 'include'
    const expression = compileExpression(value, this.#context)
    this.#root.add(path, { kind: 'compute', compute: (document) => expression.evaluateOn(document) })
  }

  #inclusion(path: string): void {
    if (path === '_id') {
      this.#setId('keep')
      return
    }
    if (path.endsWith('.$') && this.#find) {
      this.#positionalField(path.slice(0, -2))
      return
    }
    checkFieldPath(path)
    if (this.#mode === 'exclude') throw new CommandError(31253, `Cannot do inclusion on field ${path} in exclusion projection`)
    this.#mode = 'include'
    this.#root.add(path, { kind: 'keep' })
  }

  #exclusion(path: string): void {
    if (path === '_id') {
      this.#setId('drop')
      return
    }
    if (path.endsWith('.$') && this.#find) throw new CommandError(31395, 'positional projection cannot be used with exclusion')
    checkFieldPath(path)
    if (this.#mode === 'include') throw new CommandError(31254, `Cannot do exclusion on field ${path} in inclusion projection`)
    this.#mode = 'exclude'
    this.#root.add(path, { kind: 'drop' })
  }

  #setId(what: 'keep' | 'drop'): void {
    if (this.#id !== null || this.#root.leaves.has('_id') || this.#root.children.has('_id'))
      throw new CommandError(31250, 'Path collision at _id')
    this.#id = what
  }

  #positionalField(path: string): void {
    checkFieldPath(path)
    const { filter } = this.#options
    if (this.#positional !== null) throw new CommandError(31276, 'Cannot specify more than one positional projection per query.')
    if (this.#hasElemMatch) throw new CommandError(31256, 'Cannot specify positional operator and $elemMatch.')
    if (filter === undefined) throw new CommandError(51050, 'Projections with a positional operator require a matcher')
    if (this.#mode === 'exclude') throw new CommandError(31253, `Cannot do inclusion on field ${path} in exclusion projection`)
    this.#mode = 'include'
    this.#positional = filter
    this.#root.add(path, { kind: 'transform', transform: positionalTransform(filter, () => this.#position) })
  }
}
