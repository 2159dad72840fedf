/** Manual: aggregation/lookup. */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  documentValue,
  encodeKeyString,
  FieldIterator,
  RawValue,
} from '@shardlab/bson'
import { unboundVariable, type EvaluationContext } from '../../../context.js'
import { compileExpression, type DocumentExpression } from '../../expressions/compile.js'
import { checkFieldPath } from '../../expressions/field-path.js'
import { checkVariableName } from '../../expressions/variable-name.js'
import type { ForeignRead } from './join-request.js'
import { openJoin, readForeign, type JoinRun, type JoinWork } from './join-run.js'
import { checkForeignName, parseLookup } from './lookup-arguments.js'
import { ForeignDocuments, localValues, matchAnyOf } from './lookup-match.js'
import type { CompiledStage, ForeignCollection, StageContext, StageOperator } from '../stage.js'
import type { StageRun } from '../stage-run.js'
import { setAt } from '../per-document/unwind.js'
import { newestLanguage } from '../../../language/language.js'

/** Documents per read, where one read can serve several. */
const joinBatchSize = 100
/** For a read that serves several documents; above that, fewer documents are joined at once. */
const maxSharedReadBytes = 16 * 1024 * 1024
/** For one document: internalLookupStageIntermediateDocumentMaxSizeBytes. */
const maxMatchedBytes = 100 * 1024 * 1024

interface Lookup {
  readonly from: Pick<ForeignRead, 'db' | 'collection'>
  readonly as: readonly string[]
  /** Null: only the pipeline selects the documents. */
  readonly fields: { readonly local: readonly string[]; readonly foreign: string } | null
  readonly variables: readonly { readonly name: string; readonly expression: DocumentExpression }[]
  readonly pipeline: readonly Uint8Array[] | null
  /** A $unwind of the array follows: joined documents are passed on one by one. */
  readonly unwound: boolean
  readonly evaluation: EvaluationContext
}

function compileLookup(argument: RawValue, context: StageContext): CompiledStage {
  const { evaluation } = context
  const given = parseLookup(argument)
  const { language = newestLanguage } = evaluation
  if (given.pipeline !== null && given.localField !== null && !language.has('form', 'lookupFieldsAndPipeline'))
    throw new CommandError('FailedToParse', "$lookup with 'pipeline' may not specify 'localField' or 'foreignField'")
  checkForeignName('$lookup', given.from, context)
  for (const { name } of given.variables) checkVariableName(name)
  const lookup: Lookup = {
    from: { db: given.db ?? context.db, collection: given.from },
    as: checkFieldPath(given.as),
    fields:
      given.localField === null
        ? null
        : { local: checkFieldPath(given.localField), foreign: checkFieldPath(given.foreignField!).join('.') },
    variables: given.variables.map(({ name, expression }) => ({
      name,
      expression: compileExpression(expression, evaluation),
    })),
    pipeline: given.pipeline,
    unwound: isPlainUnwind(context.following, given.as),
    evaluation,
  }
  if (given.pipeline !== null) {
    const unbound = new Map(evaluation.variables)
    for (const { name } of given.variables) unbound.set(name, unboundVariable)
    context.compilePipeline('lookup', given.pipeline, unbound)
  }
  return {
    name: '$lookup',
    open: (next, rest) =>
      openJoin(
        lookup.pipeline === null ? new FieldJoin(lookup, next) : new PipelineJoin(lookup, next),
        next,
        rest,
        joinBatchSize,
      ),
  }
}

/**
 * Only `{ $unwind: '$as' }` without options. The $unwind stays in the pipeline, because it leaves
 * values that are not arrays unchanged.
 */
function isPlainUnwind(following: StageContext['following'], as: string): boolean {
  if (following?.name !== '$unwind') return false
  const { argument } = following
  if (argument.type === BsonType.string) return argument.asString() === `$${as}`
  if (argument.type !== BsonType.object) return false
  const it = new FieldIterator(argument.bytes, argument.start)
  return (
    it.next() && it.name() === 'path' && it.type === BsonType.string && it.value().asString() === `$${as}` && !it.next()
  )
}

function emit({ as, unwound }: Lookup, next: StageRun, document: Uint8Array, joined: readonly Uint8Array[]): void {
  if (!unwound) {
    next.push(setAt(document, as, arrayOf(joined)))
    return
  }
  for (const each of joined) {
    if (next.satisfied) return
    next.push(setAt(document, as, documentValue(each)))
  }
}

export function arrayOf(documents: readonly Uint8Array[]): RawValue {
  const writer = new DocumentWriter(documents.reduce((sum, document) => sum + document.length + 8, 16))
  documents.forEach((document, i) => writer.document(String(i), document))
  const bytes = writer.finish()
  return new RawValue(BsonType.array, bytes, 0, bytes.length)
}

function tooLarge({ from }: Lookup): CommandError {
  return new CommandError(
    4568,
    `Total size of documents in ${from.collection ?? '$cmd.aggregate'} matching pipeline's $lookup stage exceeds ${maxMatchedBytes} bytes`,
  )
}

/** Without a pipeline, one read serves many documents. */
class FieldJoin implements JoinRun {
  readonly #lookup: Lookup
  readonly #next: StageRun

  constructor(lookup: Lookup, next: StageRun) {
    this.#lookup = lookup
    this.#next = next
  }

  *join(documents: readonly Uint8Array[]): JoinWork {
    const lookup = this.#lookup
    const { local, foreign } = lookup.fields!
    const values = documents.map((document) => localValues(document, local))
    const found: Uint8Array[] = []
    let bytes = 0
    const limit = documents.length === 1 ? maxMatchedBytes : maxSharedReadBytes
    const read: ForeignRead = {
      ...lookup.from,
      stages: [matchAnyOf(foreign, distinct(values.flat()))],
      variables: lookup.evaluation.variables ?? new Map(),
    }
    yield* readForeign(read, (document) => {
      bytes += document.length
      // The server never holds unwound documents together, so the limit does not apply to them.
      if (bytes > limit && (documents.length > 1 || !lookup.unwound)) return false
      found.push(document)
      return true
    })
    if (documents.length === 1) {
      if (bytes > limit && !lookup.unwound) throw tooLarge(lookup)
      emit(lookup, this.#next, documents[0]!, found)
    } else if (bytes > limit) {
      const half = documents.length >> 1
      yield* this.join(documents.slice(0, half))
      yield* this.join(documents.slice(half))
    } else {
      const matcher = new ForeignDocuments(found, foreign, lookup.evaluation)
      documents.forEach((document, i) => {
        if (!this.#next.satisfied) emit(lookup, this.#next, document, matcher.matching(values[i]!))
      })
    }
  }
}

function distinct(values: readonly RawValue[]): RawValue[] {
  const known = new Map<string, RawValue>()
  for (const value of values) {
    const key = `${value.type === BsonType.regex ? 'r' : ''}${encodeKeyString([value])}`
    if (!known.has(key)) known.set(key, value)
  }
  return [...known.values()]
}

/** With a pipeline: one read for each document, unless an earlier read had the same inputs. */
class PipelineJoin implements JoinRun {
  readonly #lookup: Lookup
  readonly #next: StageRun
  /** The pipeline returns the same results for the same variables. */
  readonly #repeatable: boolean
  /** Results by inputs. Cleared by each call of `join`, unless the pipeline has no inputs. */
  #known = new Map<string, readonly Uint8Array[]>()

  constructor(lookup: Lookup, next: StageRun) {
    this.#lookup = lookup
    this.#next = next
    this.#repeatable = !lookup.pipeline!.some(usesRandomness)
  }

  *join(documents: readonly Uint8Array[]): JoinWork {
    const lookup = this.#lookup
    const { fields, evaluation } = lookup
    const isCorrelated = fields !== null || lookup.variables.length > 0
    if (isCorrelated) this.#known = new Map()
    for (const document of documents) {
      if (this.#next.satisfied) return
      const values = fields === null ? [] : localValues(document, fields.local)
      const bound = lookup.variables.map(({ expression }) => expression.evaluateOn(document))
      const key = keyOf(values, bound)
      let joined = this.#repeatable ? this.#known.get(key) : undefined
      if (joined === undefined) {
        const variables = new Map(evaluation.variables)
        lookup.variables.forEach(({ name }, i) => variables.set(name, bound[i]))
        const found: Uint8Array[] = []
        let bytes = 0
        yield* readForeign({ ...lookup.from, stages: this.#stagesFor(values), variables }, (each) => {
          bytes += each.length
          if (bytes > maxMatchedBytes && !lookup.unwound) throw tooLarge(lookup)
          found.push(each)
        })
        joined = found
        if (bytes <= maxSharedReadBytes || !isCorrelated) this.#known.set(key, joined)
      }
      emit(lookup, this.#next, document, joined)
    }
  }

  /** The $match on the values comes first, but after $documents. */
  #stagesFor(values: readonly RawValue[]): readonly Uint8Array[] {
    const pipeline = this.#lookup.pipeline!
    const { fields, from } = this.#lookup
    if (fields === null) return pipeline
    const match = matchAnyOf(fields.foreign, distinct(values))
    return from.collection === null ? [pipeline[0]!, match, ...pipeline.slice(1)] : [match, ...pipeline]
  }
}

function keyOf(values: readonly RawValue[], bound: readonly (RawValue | undefined)[]): string {
  const text = (value: RawValue | undefined) =>
    value === undefined ? '-' : `${value.type}:${Buffer.from(value.slice()).toString('latin1')}`
  return JSON.stringify([values.map(text), bound.map(text)])
}

const randomOperators = new Set(['$rand', '$sample', '$sampleRate'])

function usesRandomness(document: Uint8Array): boolean {
  for (const it = new FieldIterator(document); it.next();) {
    if (randomOperators.has(it.name())) return true
    if ((it.type === BsonType.object || it.type === BsonType.array) && usesRandomness(it.value().slice())) return true
  }
  return false
}

function foreignOf(argument: RawValue): readonly ForeignCollection[] {
  const { db, from, pipeline } = parseLookup(argument)
  return [{ stage: '$lookup', db, collection: from, stages: pipeline ?? [] }]
}

export const lookupStage: StageOperator = {
  name: '$lookup',
  manualPage: 'aggregation/lookup',
  status: 'partial',
  deviations: ['D200', 'D202', 'D603', 'D609'],
  sharded: 'merger',
  foreign: foreignOf,
  compile: compileLookup,
}
