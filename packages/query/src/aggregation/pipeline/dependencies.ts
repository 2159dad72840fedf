/**
 * Server: `DocumentSource::getDependencies`, dependencies.cpp, inclusion_projection_executor.cpp
 * (reportDependencies).
 */
import {
  BsonType,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  findField,
  firstFieldName,
  type RawValue,
} from '@shardlab/bson'
import type { PipelineStep } from './steps.js'
import { isInclusion } from './project-argument.js'
import { parseLookup } from '../stages/joins/lookup-arguments.js'

/** A method returns `false` if the whole document may be read. */
class Dependencies {
  readonly paths = new Set<string>()

  expression(value: RawValue): boolean {
    switch (value.type) {
      case BsonType.string:
        return this.#string(value.asString())
      case BsonType.array:
        return elementsOf(value).every((element) => this.expression(element))
      case BsonType.object:
        return this.#object(value)
      default:
        return true
    }
  }

  #string(text: string): boolean {
    if (!text.startsWith('$')) return true
    if (!text.startsWith('$$')) {
      this.paths.add(text.slice(1))
      return true
    }
    const dot = text.indexOf('.')
    const variable = dot < 0 ? text.slice(2) : text.slice(2, dot)
    if (variable !== 'ROOT' && variable !== 'CURRENT') return true
    if (dot < 0) return false
    this.paths.add(text.slice(dot + 1))
    return true
  }

  #object(value: RawValue): boolean {
    for (const it = new FieldIterator(value.bytes, value.start); it.next();) {
      const name = it.name()
      const argument = it.value()
      if (name === '$literal' || name === '$const') continue
      // A $getField without input reads the whole document, by a name that may be computed.
      if (name === '$meta' || (name === '$getField' && findIn(argument, 'input') === undefined)) return false
      const variables = name === '$let' ? findIn(argument, 'vars') : undefined
      if (variables !== undefined && findIn(variables, 'CURRENT') !== undefined) return false
      if (name === 'sortBy' && argument.type === BsonType.object) this.names(argument)
      if (!this.expression(argument)) return false
    }
    return true
  }

  names(document: RawValue): void {
    for (const it = new FieldIterator(document.bytes, document.start); it.next();) this.paths.add(it.name())
  }

  filter(filter: RawValue): boolean {
    for (const it = new FieldIterator(filter.bytes, filter.start); it.next();) {
      const name = it.name()
      const value = it.value()
      if (!name.startsWith('$')) this.paths.add(name)
      else if (name === '$expr') {
        if (!this.expression(value)) return false
      } else if (name === '$and' || name === '$or' || name === '$nor') {
        if (!elementsOf(value).every((branch) => this.filter(branch))) return false
      } else if (name !== '$comment') return false
    }
    return true
  }

  /** Adds the computed and included fields, with nested documents; `parent` ends with a dot. */
  fields(document: RawValue, parent = ''): boolean {
    for (const it = new FieldIterator(document.bytes, document.start); it.next();) {
      const path = parent + it.name()
      const value = it.value()
      if (value.type === BsonType.bool || value.isNumber()) {
        if (value.isTruthy()) this.paths.add(path)
        continue
      }
      if (value.type === BsonType.object && firstFieldName(value.slice())?.startsWith('$') === false) {
        if (!this.fields(value, `${path}.`)) return false
        continue
      }
      if (!this.expression(value)) return false
      // How often a nested field is computed depends on the arrays on its path.
      const dot = path.lastIndexOf('.')
      if (dot > 0) this.paths.add(path.slice(0, dot))
    }
    return true
  }

  /**
   * @returns true: later stages see only what this stage computes; false: they may read more
   *   fields of the input; null: the whole document may be read
   */
  stage({ operator: { name }, argument }: PipelineStep): boolean | null {
    const continues = (finite: boolean): false | null => (finite ? false : null)
    const ends = (finite: boolean): true | null => (finite ? true : null)
    switch (name) {
      case '$limit':
      case '$skip':
      case '$sample':
      case '$unset':
        return false
      case '$match':
        return continues(this.filter(argument))
      case '$sort':
        this.names(argument)
        return continues(this.expression(argument))
      case '$unwind':
        return continues(this.expression(argument.type === BsonType.object ? findIn(argument, 'path')! : argument))
      case '$addFields':
      case '$set':
        return continues(this.#computed(argument))
      case '$lookup': {
        const { localField, variables } = parseLookup(argument)
        if (localField !== null) this.paths.add(localField)
        return continues(variables.every(({ expression }) => this.expression(expression)))
      }
      case '$project': {
        if (!isInclusion(argument)) return false
        if (findIn(argument, '_id') === undefined) this.paths.add('_id')
        return ends(this.fields(argument))
      }
      case '$group':
        return ends(this.#group(argument))
      case '$replaceWith':
        return ends(this.expression(argument))
      case '$replaceRoot':
      case '$bucketAuto':
        return ends(this.expression(argument))
      default:
        return null
    }
  }

  /** As {@link fields}, but numbers and booleans are values. */
  #computed(document: RawValue, parent = ''): boolean {
    for (const it = new FieldIterator(document.bytes, document.start); it.next();) {
      const path = parent + it.name()
      const value = it.value()
      if (value.type === BsonType.object && firstFieldName(value.slice())?.startsWith('$') === false) {
        if (!this.#computed(value, `${path}.`)) return false
        continue
      }
      if (!this.expression(value)) return false
      const dot = path.lastIndexOf('.')
      if (dot > 0) this.paths.add(path.slice(0, dot))
    }
    return true
  }

  /** `$doingMerge` and `$willBeMerged` are constants and add no path. */
  #group(argument: RawValue): boolean {
    return this.expression(argument)
  }
}

/** Null: the whole document; an empty set: only the number of documents. */
export function dependenciesOf(steps: readonly PipelineStep[]): ReadonlySet<string> | null {
  const dependencies = new Dependencies()
  for (const step of steps) {
    const ended = dependencies.stage(step)
    if (ended === null) return null
    if (ended) return dependencies.paths
  }
  return null
}

/**
 * `{ path: 1, …, _id: 0 or 1 }` without paths inside other paths; null if there are no paths.
 * Server: `DepsTracker::toProjectionWithoutMetadata`.
 */
export function projectionOf(paths: ReadonlySet<string>): Uint8Array | null {
  if (paths.size === 0) return null
  const writer = new DocumentWriter(128)
  let idNeeded = false
  let last = ''
  // Dots sort before all other characters: nested paths directly follow the path that contains
  // them.
  const sorted = [...paths].sort((a, b) => compare(a.replaceAll('.', '\0'), b.replaceAll('.', '\0')))
  for (const path of sorted) {
    if (path === '_id' || path.startsWith('_id.')) idNeeded = true
    else if (last === '' || !path.startsWith(`${last}.`)) {
      writer.int32(path, 1)
      last = path
    }
  }
  return writer.int32('_id', idNeeded ? 1 : 0).finish()
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function findIn(document: RawValue, name: string): RawValue | undefined {
  return document.type === BsonType.object ? findField(document.bytes, name, document.start) : undefined
}
